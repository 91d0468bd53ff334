#include "daemon/run_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "runtime/files.hpp"
#include "runtime/log.hpp"

namespace rehearsal::daemon {
namespace {

namespace fs = std::filesystem;

/// Names come from our own coordinator, yet a path is made of them: letters, digits, '-', '_', '.'.
bool plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.size() <= 128 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

Bytes size_of(const coordination::StoreRun& run) {
  Bytes total;
  for (const auto& file : run.files) total += Bytes{file.content.size()};
  return total;
}

Failure store_failure(const std::string& what, const std::error_code& error) {
  return system_failure(ErrorSource::host, what, error.value());
}

/// The lock goes with the process, however it ends.
Result<int> take_lock(const fs::path& folder) {
  const fs::path path = folder / "lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return system_failure(ErrorSource::host, "cannot open " + path.string(), errno);
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return fail(ErrorCode::refused, ErrorSource::host,
              "the store " + folder.string() +
                  " is in use by another rehearsald; stop it or name another store");
}

Result<std::uint64_t> raise_epoch(const fs::path& folder) {
  const fs::path path = folder / "epoch";
  std::uint64_t epoch = 0;
  if (fs::exists(path)) {
    ASSIGN_OR_RETURN(const std::string text, runtime::read_file(path, Bytes{64}));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), epoch);
    if (error != std::errc{} || (end != text.data() + text.size() && *end != '\n')) {
      return invalid(path.string() +
                     " does not hold a whole number; write one there that is higher than any epoch "
                     "in the agents' logs");
    }
  }
  ++epoch;
  RETURN_IF_ERROR(runtime::write_file_atomically(path, std::to_string(epoch) + "\n",
                                                 runtime::Durability::durable));
  return epoch;
}

}  // namespace

Result<std::unique_ptr<RunStore>> RunStore::open(fs::path folder, RunStoreOptions options) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return store_failure("cannot make the store " + folder.string(), error);
  ASSIGN_OR_RETURN(const int lock, take_lock(folder));
  auto epoch = raise_epoch(folder);
  if (!epoch) {
    ::close(lock);
    return Failure{epoch.error().within("cannot raise the epoch")};
  }
  return std::unique_ptr<RunStore>(new RunStore(std::move(folder), options, lock, *epoch));
}

RunStore::RunStore(fs::path folder, RunStoreOptions options, int lock, std::uint64_t epoch)
    : folder_(std::move(folder)), options_(options), lock_(lock), epoch_(epoch), writer_([this] {
        write_runs();
      }) {}

RunStore::~RunStore() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  writer_.join();
  ::close(lock_);
}

bool RunStore::save(coordination::StoreRun run) {
  const Bytes size = size_of(run);
  {
    const std::lock_guard guard(mutex_);
    if (queued_ + size > options_.queue_max) {
      ++lost_;
      return false;
    }
    queued_ += size;
    queue_.push_back(std::move(run));
  }
  changed_.notify_one();
  return true;
}

void RunStore::write_runs() {
  std::unique_lock guard(mutex_);
  for (;;) {
    changed_.wait(guard, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;  // closing, and all is written
    const coordination::StoreRun run = std::move(queue_.front());
    queue_.pop_front();
    guard.unlock();
    if (const auto done = write(run)) {
      ++written_;
      remove_oldest();
    } else {
      ++lost_;
      runtime::log_error("run " + run.run + " is not kept: " + done.error().text());
    }
    guard.lock();
    queued_ -= size_of(run);
  }
}

Result<void> RunStore::write(const coordination::StoreRun& run) const {
  if (!plain_name(run.run)) return invalid("'" + run.run + "' cannot name a folder");
  const fs::path partial = folder_ / ("." + run.run + ".partial");
  std::error_code error;
  fs::remove_all(partial, error);  // of a coordinator that was killed while writing
  fs::create_directory(partial, error);
  if (error) return store_failure("cannot make " + partial.string(), error);
  for (const auto& file : run.files) {
    if (!plain_name(file.name)) return invalid("'" + file.name + "' cannot name a file");
    RETURN_IF_ERROR(runtime::write_file_atomically(partial / file.name, file.content,
                                                   runtime::Durability::durable));
  }
  fs::rename(partial, folder_ / run.run, error);
  if (error) return store_failure("cannot name " + (folder_ / run.run).string(), error);
  return {};
}

void RunStore::remove_oldest() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> runs;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_directory(error) || !plain_name(entry->path().filename().string())) continue;
    runs.emplace_back(entry->last_write_time(error), entry->path());
  }
  if (runs.size() <= options_.runs_max) return;
  std::sort(runs.begin(), runs.end());
  runs.resize(runs.size() - options_.runs_max);
  for (const auto& [written, path] : runs) {
    fs::remove_all(path, error);
    if (error) runtime::log_warning("cannot remove " + path.string() + ": " + error.message());
  }
}

}  // namespace rehearsal::daemon
