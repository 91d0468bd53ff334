#include "core/fabric/nccl_topology.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/fabric/read.hpp"
#include "tests/support/traces.hpp"

namespace rehearsal::fabric {
namespace {

constexpr std::uint64_t kGigabit = 1'000'000'000;

// Two CPUs, on the first a switch with a GPU and a NIC, beside it a second NIC; on the other a GPU
// and a NIC below switches of their own.
constexpr std::string_view kSmall = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel">
    <pci busid="0000:01:00.0" class="0x060400" vendor="0x1111">
      <pci busid="0000:02:00.0" class="0x030200" vendor="0x10de" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:09:00.0" count="10" tclass="0x068000"/>
          <nvlink target="0000:0a:00.0" count="8" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:03:00.0" class="0x020700" vendor="0x15b3">
        <nic>
          <net name="mlx5_0" dev="0" speed="400000" latency="0.000000"/>
        </nic>
      </pci>
    </pci>
    <pci busid="0000:04:00.0" class="0x020000" vendor="0x15b3">
      <nic><net name="mlx5_1" dev="1" speed="100000"/></nic>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="GenuineIntel">
    <pci busid="0000:11:00.0" class="0x060400" vendor="0x1111">
      <pci busid="0000:12:00.0" class="0x060400" vendor="0x1111">
        <pci busid="0000:13:00.0" class="0x030200" vendor="0x10de" link_speed="32.0 GT/s PCIe" link_width="16">
          <gpu dev="1" sm="90" rank="1">
            <nvlink target="0000:09:00.0" count="18" tclass="0x068000"/>
          </gpu>
        </pci>
      </pci>
      <pci busid="0000:14:00.0" class="0x020700" vendor="0x15b3">
        <nic><net name="mlx5_2" dev="2" speed="400000" latency="35.5"/></nic>
      </pci>
    </pci>
  </cpu>
</system>
)";

std::string changed(std::string_view from, std::string_view to) {
  std::string text(kSmall);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal(std::string_view text) {
  const auto node = read_nccl_topology(text, "topo.xml");
  return node ? "was read" : node.error().text();
}

Result<Node> read_trace(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  EXPECT_FALSE(text.str().empty()) << file;
  return read_node(text.str(), file.filename());
}

TEST(NcclTopology, ASmallDump) {
  const auto node = read_nccl_topology(kSmall, "topo.xml");
  ASSERT_TRUE(node) << node.error().text();
  EXPECT_EQ(node->name, "topo.xml");
  EXPECT_EQ(node->generation, Generation::hopper);
  EXPECT_EQ(node->cpu, CpuVendor::intel);
  EXPECT_EQ(node->inside, Inside::nvswitch);
  EXPECT_EQ(node->inside_bandwidth, BitRate{3600 * kGigabit}) << "18 links";
  EXPECT_EQ(node->pcie, BitRate{512 * kGigabit});
  ASSERT_EQ(node->nics.size(), 3U);
  EXPECT_EQ(node->nics[0], (Nic{"mlx5_0", BitRate{400 * kGigabit}, Duration{0}}));
  EXPECT_EQ(node->nics[2], (Nic{"mlx5_2", BitRate{400 * kGigabit}, Duration{35'500}}));
  ASSERT_EQ(node->gpus.size(), 2U);
  EXPECT_EQ(node->gpus[0], (Gpu{0, Path::pix}));
  EXPECT_EQ(node->gpus[1], (Gpu{2, Path::pxb}));
  EXPECT_EQ(node->rails(), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_TRUE(node->assumed.empty());
}

TEST(NcclTopology, PathsThroughCpus) {
  // The NIC below the GPU's switch is gone: the one beside it, by the CPU's host bridge, is
  // nearest.
  const auto beside = read_nccl_topology(
      changed(R"(<net name="mlx5_0" dev="0" speed="400000" latency="0.000000"/>)", ""), "topo.xml");
  ASSERT_TRUE(beside) << beside.error().text();
  EXPECT_EQ(beside->gpus[0], (Gpu{0, Path::phb}));
  const auto across = read_nccl_topology(
      changed(R"(<net name="mlx5_2" dev="2" speed="400000" latency="35.5"/>)", ""), "topo.xml");
  ASSERT_TRUE(across) << across.error().text();
  EXPECT_EQ(across->gpus[1].path, Path::sys);
}

TEST(NcclTopology, LinksBetweenGpusAndNone) {
  std::string text(kSmall);
  for (std::size_t at = 0; (at = text.find("0x068000", at)) != std::string::npos;) {
    text.replace(at, 8, "0x030200");
  }
  const auto pairs = read_nccl_topology(text, "topo.xml");
  ASSERT_TRUE(pairs) << pairs.error().text();
  EXPECT_EQ(pairs->inside, Inside::nvlink);
  // One GPU without a link: what all can do is PCIe.
  const auto one = read_nccl_topology(
      changed(R"(<nvlink target="0000:09:00.0" count="18" tclass="0x068000"/>)", ""), "topo.xml");
  ASSERT_TRUE(one) << one.error().text();
  EXPECT_EQ(one->inside, Inside::pcie);
  EXPECT_EQ(one->inside_bandwidth, BitRate{512 * kGigabit});
}

TEST(NcclTopology, WhatIsLeftOutIsAssumedAndSaid) {
  const auto node = read_nccl_topology(
      changed(R"(name="mlx5_1" dev="1" speed="100000")", R"(name="mlx5_1" dev="1")"), "topo.xml");
  ASSERT_TRUE(node) << node.error().text();
  EXPECT_EQ(node->nics[1].rate, BitRate{400 * kGigabit});
  EXPECT_EQ(node->assumed, (std::vector<std::string>{"rate of NIC mlx5_1: 400Gbit/s"}));
}

TEST(NcclTopology, WrongFilesSayWhere) {
  EXPECT_EQ(refusal(changed(R"(sm="90" rank="0")", R"(rank="0")")),
            "topo.xml:5: <gpu> has no sm; expected sm=\"…\"");
  EXPECT_EQ(refusal(changed(R"(sm="90" rank="0")", R"(sm="61" rank="0")")),
            "topo.xml:5: <gpu> has sm=\"61\"; expected 70 or more (Volta and later)");
  EXPECT_EQ(refusal(changed(R"(count="10")", R"(count="ten")")),
            "topo.xml:6: <nvlink> count='ten' is no number here; expected a whole number up to 64");
  EXPECT_EQ(refusal(changed(R"(dev="1" sm)", R"(dev="0" sm)")),
            "topo.xml:24: <gpu> has dev=\"0\" as another has; expected a number of its own");
  EXPECT_EQ(refusal(changed(R"(latency="35.5")", R"(latency="-1")")),
            "topo.xml:30: <net> latency='-1' is no time; expected microseconds below a second");
  EXPECT_EQ(refusal("<graphs/>"),
            "topo.xml:1: <graphs> is no NCCL topology; expected <system> at the top");
  EXPECT_NE(refusal("<system><cpu>").find("topo.xml:1: is not valid XML"), std::string::npos);
  EXPECT_NE(refusal("<system><cpu/></system>").find("holds no GPU"), std::string::npos);
  EXPECT_NE(refusal("<system/>").find("holds no <cpu>"), std::string::npos);
  EXPECT_NE(refusal(""), "was read");
}

TEST(NcclTopology, DepthAndSizeAreCapped) {
  std::string deep = "<system><cpu>";
  for (int i = 0; i < 20'000; ++i) deep += "<pci>";
  for (int i = 0; i < 20'000; ++i) deep += "</pci>";
  deep += "</cpu></system>";
  EXPECT_NE(refusal(deep).find("is nested too deep; expected at most 32 levels"), std::string::npos)
      << refusal(deep);
  std::string many = "<system><cpu><nic>";
  for (int i = 0; i < 65; ++i) many += "<net name='n" + std::to_string(i) + "' dev='1'/>";
  EXPECT_NE(refusal(many + "</nic></cpu></system>").find("one NIC too many"), std::string::npos);
  EXPECT_EQ(read_node(std::string((1 << 20) + 1, ' '), "x").error().code, ErrorCode::too_large);
}

TEST(NcclTopology, TheDumpOfADgxA100) {
  SKIP_WITHOUT_TRACES(traces);
  const auto node = read_trace(traces / "topo/nccl_topo_dump_dgxa100_infragraph.xml");
  ASSERT_TRUE(node) << node.error().text();
  EXPECT_EQ(node->generation, Generation::ampere);
  EXPECT_EQ(node->cpu, CpuVendor::amd);
  EXPECT_EQ(node->inside, Inside::nvswitch);
  EXPECT_EQ(node->inside_bandwidth, BitRate{2400 * kGigabit}) << "12 NVLinks of 25 GB/s";
  EXPECT_EQ(node->pcie, BitRate{256 * kGigabit});
  EXPECT_EQ(node->nics.size(), 12U);
  ASSERT_EQ(node->gpus.size(), 8U);
  // mlx5_4, 5, 10 and 11 are the storage NICs; each pair of GPUs has a pair of NICs at hand.
  const std::vector<std::string> rails = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3",
                                          "mlx5_6", "mlx5_7", "mlx5_8", "mlx5_9"};
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(node->nics[node->gpus[gpu].nic].name, rails[gpu]);
    EXPECT_EQ(node->gpus[gpu].path, Path::pxb);
    EXPECT_EQ(node->nics[node->gpus[gpu].nic].rate, BitRate{200 * kGigabit});
  }
  EXPECT_TRUE(node->assumed.empty());
}

TEST(NcclTopology, TheFilesOfAws) {
  SKIP_WITHOUT_TRACES(traces);
  const auto p5 = read_trace(traces / "topo/nccl_topo_aws_p5_8xH100_32efa.xml");
  ASSERT_TRUE(p5) << p5.error().text();
  EXPECT_EQ(p5->generation, Generation::hopper);
  EXPECT_EQ(p5->cpu, CpuVendor::amd);
  EXPECT_EQ(p5->nics.size(), 32U);
  ASSERT_EQ(p5->gpus.size(), 8U);
  EXPECT_EQ(p5->rails().size(), 8U);
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(p5->gpus[gpu].nic / 4, gpu) << "one of the four below its switch";
    EXPECT_EQ(p5->gpus[gpu].path, Path::pix);
  }
  EXPECT_EQ(p5->assumed, (std::vector<std::string>{"inside: nvswitch with 3600Gbit/s"}));

  const auto p4d = read_trace(traces / "topo/nccl_topo_aws_p4d_8xA100_4efa.xml");
  ASSERT_TRUE(p4d) << p4d.error().text();
  EXPECT_EQ(p4d->generation, Generation::ampere);
  EXPECT_EQ(p4d->cpu, CpuVendor::intel);
  EXPECT_EQ(p4d->nics.size(), 4U);
  ASSERT_EQ(p4d->gpus.size(), 8U);
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(p4d->gpus[gpu], (Gpu{gpu / 2, Path::pix}));
  }
  EXPECT_EQ(p4d->pcie, BitRate{128 * kGigabit});
  EXPECT_EQ(p4d->nics[0].name, "0000:10:1b.0");
  EXPECT_EQ(p4d->assumed.size(), 5U) << "NVLink, and the rate of each NIC";
}

TEST(NcclTopology, GpusOfAmdAreRefusedWithWhatWasFound) {
  SKIP_WITHOUT_TRACES(traces);
  const auto node = read_trace(traces / "topo/nccl_topo_rccl_8p_mi300a_940.xml");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, ErrorCode::unsupported);
  EXPECT_NE(node.error().text().find("gcn='gfx942': 8 GPUs of AMD and 8 NICs were found"),
            std::string::npos)
      << node.error().text();
}

}  // namespace
}  // namespace rehearsal::fabric
