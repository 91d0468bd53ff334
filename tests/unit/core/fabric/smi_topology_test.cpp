#include "core/fabric/smi_topology.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/fabric/read.hpp"

namespace rehearsal::fabric {
namespace {

constexpr std::uint64_t kGigabit = 1'000'000'000;

// Four GPUs on NVSwitches with a NIC each for two of them, as the program writes it: tabs, an
// underlined head, the legend.
constexpr std::string_view kSmall =
    "user@node:~$ nvidia-smi topo -m\n"
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tNIC2\tCPU Affinity\tNUMA Affinity\tGPU NUMA "
    "ID\x1b[0m\n"
    "GPU0\t X \tNV18\tNV18\tNV18\tPIX\tNODE\tSYS\t0-55,112-167\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tNV18\tNV18\tPIX\tNODE\tSYS\t0-55,112-167\t0\t\tN/A\n"
    "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tSYS\tPXB\t56-111\t1\t\tN/A\n"
    "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tSYS\tPXB\t56-111\t1\t\tN/A\n"
    "NIC0\tPIX\tPIX\tSYS\tSYS\t X \tNODE\tSYS\t\t\t\t\n"
    "NIC1\tNODE\tNODE\tSYS\tSYS\tNODE\t X \tSYS\t\t\t\t\n"
    "NIC2\tSYS\tSYS\tPXB\tPXB\tSYS\tSYS\t X \t\t\t\t\n"
    "\n"
    "Legend:\n"
    "\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes\n"
    "\n"
    "NIC Legend:\n"
    "\n"
    "  NIC0: mlx5_0\n"
    "  NIC1: mlx5_bond_0\n"
    "  NIC2: mlx5_2\n";

std::string changed(std::string_view from, std::string_view to) {
  std::string text(kSmall);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal(std::string_view text) {
  const auto node = read_smi_topology(text, "topo.txt");
  return node ? "was read" : node.error().text();
}

TEST(SmiTopology, ASmallMatrix) {
  ASSERT_TRUE(is_smi_topology(kSmall));
  const auto node = read_node(kSmall, "topo.txt");
  ASSERT_TRUE(node) << node.error().text();
  EXPECT_EQ(node->generation, Generation::hopper);
  EXPECT_EQ(node->inside, Inside::nvswitch);
  EXPECT_EQ(node->inside_bandwidth, BitRate{3600 * kGigabit});
  ASSERT_EQ(node->nics.size(), 3U);
  EXPECT_EQ(node->nics[0].name, "mlx5_0");
  EXPECT_EQ(node->nics[1].name, "mlx5_bond_0");
  EXPECT_EQ(node->nics[0].rate, BitRate{400 * kGigabit});
  ASSERT_EQ(node->gpus.size(), 4U);
  EXPECT_EQ(node->gpus[0], (Gpu{0, Path::pix}));
  EXPECT_EQ(node->gpus[1], (Gpu{0, Path::pix}));
  EXPECT_EQ(node->gpus[2], (Gpu{2, Path::pxb}));
  EXPECT_EQ(node->gpus[3], (Gpu{2, Path::pxb}));
  EXPECT_EQ(node->assumed,
            (std::vector<std::string>{"generation: hopper", "cpu: intel", "pcie: 512Gbit/s",
                                      "rate of NICs: 400Gbit/s"}));
}

TEST(SmiTopology, SpacesOldNamesAndOneGpu) {
  const auto node = read_node(
      "        GPU0    GPU1    mlx5_0  CPU Affinity\n"
      "GPU0     X      PIX     PHB     0-9,20-29\n"
      "GPU1    PIX      X      PHB     0-9,20-29\n"
      "mlx5_0  PHB     PHB      X\n",
      "old");
  ASSERT_TRUE(node) << node.error().text();
  EXPECT_EQ(node->inside, Inside::pcie);
  EXPECT_EQ(node->nics[0].name, "mlx5_0");
  EXPECT_EQ(node->gpus[1], (Gpu{0, Path::phb}));
  const auto one = read_node("  GPU0 NIC0 CPU Affinity\nGPU0 X NODE 0-3\n", "one");
  ASSERT_TRUE(one) << one.error().text();
  EXPECT_EQ(one->gpus.size(), 1U);
  EXPECT_EQ(one->gpus[0].path, Path::node);
}

// Links that are not to a switch: the sum of a GPU's row.
TEST(SmiTopology, LinksBetweenPairs) {
  const auto four = read_node(
      "      GPU0 GPU1 GPU2 GPU3 NIC0\n"
      "GPU0  X    NV4  NV4  NV4  PXB\n"
      "GPU1  NV4  X    NV4  NV4  PXB\n"
      "GPU2  NV4  NV4  X    NV4  PXB\n"
      "GPU3  NV4  NV4  NV4  X    PXB\n",
      "four");
  ASSERT_TRUE(four) << four.error().text();
  EXPECT_EQ(four->inside, Inside::nvlink);
  EXPECT_EQ(four->generation, Generation::ampere);
  EXPECT_EQ(four->inside_bandwidth, BitRate{2400 * kGigabit});
  const auto cube = read_node(
      "      GPU0 GPU1 GPU2 NIC0\n"
      "GPU0  X    NV1  NV2  PIX\n"
      "GPU1  NV1  X    SYS  PIX\n"
      "GPU2  NV2  SYS  X    PIX\n",
      "cube");
  ASSERT_TRUE(cube) << cube.error().text();
  EXPECT_EQ(cube->generation, Generation::volta);
  EXPECT_EQ(cube->inside_bandwidth, BitRate{200 * kGigabit}) << "the GPU with the fewest";
}

TEST(SmiTopology, WrongTextsSayWhere) {
  EXPECT_EQ(refusal(changed("NV18\t X \tNV18\tNV18", "NV18\t X \tNV18\tFAR")),
            "topo.txt:4: 'FAR' under GPU3; expected NV1 to NV18, PIX, PXB, PHB, NODE or SYS");
  EXPECT_EQ(refusal(changed("GPU1\tNV18\t X ", "GPU1\t X \tNV18")),
            "topo.txt:4: 'X' under GPU0; expected NV1 to NV18, PIX, PXB, PHB, NODE or SYS");
  EXPECT_EQ(refusal(changed("GPU2\tNV18\tNV18\t X ", "GPU9\tNV18\tNV18\t X ")),
            "topo.txt:5: the matrix ends before GPU2; expected a row for each GPU of its head");
  EXPECT_EQ(refusal("GPU0 GPU1 CPU Affinity\nGPU0 X NV4\nGPU1 NV4 X\n"),
            "topo.txt:1: no NIC stands beside the GPUs; expected NIC0, or mlx5_0, …");
  EXPECT_EQ(refusal("GPU0 GPU2 NIC0\nGPU0 X NV4 PIX\n"),
            "topo.txt:1: 'GPU2' is out of turn; expected GPU0, GPU1 … and then the NICs");
  EXPECT_EQ(refusal("GPU0 GPU1 NIC0\nGPU0 X NV4\n"),
            "topo.txt:2: 2 entries; expected 3, as the head has");
  EXPECT_EQ(refusal("GPU0 NIC0\nGPU0 X NV4\n"),
            "topo.txt:2: 'NV4' between a GPU and a NIC; expected PIX, PXB, PHB, NODE or SYS");
  EXPECT_NE(refusal(changed("NIC1: mlx5_bond_0", "NIC1: mlx5_0")).find("two NICs are called"),
            std::string::npos);
  EXPECT_NE(refusal("").find("holds no matrix"), std::string::npos);
}

}  // namespace
}  // namespace rehearsal::fabric
