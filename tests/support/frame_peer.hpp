#pragma once

#include <gtest/gtest.h>

#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/protocol/codec.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::test {

/// The other end of a control connection in a test: a bare socket that writes envelopes and keeps
/// those it reads.
class FramePeer {
 public:
  explicit FramePeer(asio::ip::tcp::socket socket) : socket_(std::move(socket)) { read(); }

  void send(const protocol::Envelope& envelope) {
    write(protocol::frame(protocol::encode(envelope)));
  }
  void write(std::string_view bytes) {
    asio::error_code ignored;
    asio::write(socket_, asio::buffer(bytes), ignored);
  }
  void close() {
    asio::error_code ignored;
    socket_.close(ignored);
  }

  const std::vector<protocol::Envelope>& received() const { return received_; }
  bool ended() const { return ended_; }

 private:
  void read() {
    socket_.async_read_some(asio::buffer(buffer_),
                            [this](const asio::error_code& error, std::size_t bytes) {
                              if (error == asio::error::operation_aborted) return;
                              if (error) {
                                ended_ = true;
                                return;
                              }
                              ASSERT_TRUE(decoder_.feed({buffer_.data(), bytes}));
                              while (const auto payload = decoder_.next()) {
                                auto envelope = protocol::decode(*payload);
                                ASSERT_TRUE(envelope) << envelope.error().text();
                                received_.push_back(std::move(*envelope));
                              }
                              read();
                            });
  }

  asio::ip::tcp::socket socket_;
  protocol::FrameDecoder decoder_;
  std::array<char, 4096> buffer_{};
  std::vector<protocol::Envelope> received_;
  bool ended_ = false;
};

}  // namespace rehearsal::test
