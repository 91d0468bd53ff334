#pragma once

#include <cstddef>
#include <cstdint>

// The constants of NCCL v2.30 (2.30.7) that decide which messages reach the wire, in one place,
// each with the file it was read from. Rows and columns count as the enumerations of choice.hpp and
// system.hpp do: algorithms in NCCL's order, protocols LL, LL128, Simple, generations Volta to
// Blackwell, scales one node, two nodes, more.

namespace rehearsal::collective::nccl_2_30 {

inline constexpr std::size_t kAlgorithmCount = 7;
inline constexpr std::size_t kProtocolCount = 3;
inline constexpr std::size_t kGenerationCount = 4;
inline constexpr std::size_t kScaleCount = 3;

// Times of one step: src/graph/tuning.cc, ncclTunerConstantsDefaults. Microseconds.

/// baseLatencies: what an op costs before its first step.
inline constexpr double kBaseLatencyUs[kAlgorithmCount][kProtocolCount] = {
    {6.8, 14.0, 8.4},  // tree
    {6.6, 14.0, 8.4},  // ring
    {0, 0, 0},         // collnet_direct
    {0, 0, 0},         // collnet_chain
    {0, 0, 0},         // nvls
    {0, 0, 0},         // nvls_tree
    {8.0, 8.0, 8.0},   // pat
};

/// hwLatencies: a step over NVLink, over PCIe, over the network.
enum class Link : std::uint8_t { nvlink, pcie, network };
inline constexpr double kLinkLatencyUs[3][kAlgorithmCount][kProtocolCount] = {
    {{0.6, 1.25, 4.0},
     {0.6, 1.9, 3.4},
     {0, 0, 3.7},
     {0, 0, 2.8},
     {0, 0, 25},
     {0, 0, 25},
     {0, 0, 4.0}},
    {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4.0}},
    {{5.0, 8.5, 14},
     {2.7, 4.0, 14.0},
     {0, 0, 31},
     {0, 0, 30},
     {0, 0, 18},
     {0, 0, 20.9},
     {0, 0, 14}},
};

/// getNetOverhead: what posting a message costs the CPU, which every step of a ring over several
/// nodes pays at least; Simple posts three times (data, flush, credit).
inline constexpr double kPostUs = 1.0;
inline constexpr double kPostAmdUs = 2.0;
inline constexpr double kPostTimesSimple = 3;
/// A step of PAT that is not hidden, per rank; and by how much its logarithmic steps overlap.
inline constexpr double kPatStepUs = 2.8;
inline constexpr double kPatOverlap = 3.5;
/// CollNet Direct serves its peers inside the node one after the other.
inline constexpr double kCollnetArityUs = 0.4;

// Bandwidths: src/graph/tuning.cc. GB/s (10^9 bytes a second).

/// llMaxBws: the most that LL gets out of all channels. On one node by the generation of the GPUs;
/// on several by the CPU that polls the flags: the first row for Intel and Arm, the second for AMD.
inline constexpr double kLlMax[kGenerationCount][kScaleCount] = {
    {39.0, 39.0, 20.4},
    {87.7, 22.5, 19.0},
    {141.0, 45.0, 35.0},
    {2 * 141.0, 2 * 45.0, 2 * 35.0},
};
/// perChMax…Bws: the most of one channel.
inline constexpr double kRingLl128MaxOfChannel[kGenerationCount][kScaleCount] = {
    {20.0, 20.0, 20.0},
    {20.0, 20.0, 20.0},
    {36.7, 36.7, 36.7},
    {40.0, 40.0, 40.0},
};
inline constexpr double kTreeLl128MaxOfChannel[kGenerationCount][kScaleCount] = {
    {20.0, 20.0, 20.0},
    {20.0, 20.0, 20.0},
    {36.7, 36.7, 29.0},
    {55.6, 31.67, 20.0},
};
inline constexpr double kTreeMaxOfChannel[kGenerationCount][kScaleCount] = {
    {26.5, 18.5, 10.0},
    {24.0, 23.6, 17.8},
    {38.7, 41.4, 36.0},
    {70.0, 42.8, 24.0},
};
inline constexpr double kNvlsTreeMaxOfChannel[kGenerationCount][kScaleCount] = {
    {26.5, 18.5, 10.0},
    {24.0, 23.6, 17.8},
    {0.0, 57.7, 45.5},
    {0.0, 96.0, 80.0},
};
/// nvlsEfficiency: of the bandwidth of NVLink.
inline constexpr double kNvlsEfficiency[kGenerationCount] = {0, 0, 0.85, 0.74};

/// ncclTopoTuneModel, "Various model refinements".
inline constexpr double kRingLlShare = 0.5;
inline constexpr double kRingLl128Share = 0.92;
inline constexpr double kTreeShare = 0.92;
inline constexpr double kTreeLlShare = 1 / 3.8;
inline constexpr double kTreeLl128Share = 120.0 / 128.0;
inline constexpr double kTreeLl128ShareOneNode = 7.0 / 9.0;
inline constexpr double kPlainTreeShare = 0.85;  // all traffic of a node's channel by one GPU
inline constexpr double kPatShare = 0.75;
inline constexpr double kCollnetDirectShareHopper = 0.85;
/// ncclTopoGetAlgoTime, "Plateau effect of ring": Simple all_reduce over several nodes, from this
/// many bytes per channel and rank on.
inline constexpr std::uint64_t kRingPlateauBytes = 64;
inline constexpr double kRingPlateau = 1.4;
inline constexpr double kRingPlateauBeforeAmpere = 1.9;

/// treeCorrectionFactor, for sizes of 64 B, 128 B, … 512 MB: trees fall behind the model in the
/// middle.
inline constexpr std::size_t kTreeCorrectionCount = 24;
inline constexpr double kTreeCorrection[kProtocolCount][kTreeCorrectionCount] = {
    {1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6,  .5,
     .4,  .4,  .5,  .6,  .7, .8, .9, 1., 1., 1., 1.0, 1.0},
    {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7, .6,  .6,
     .6,  .6,  .6,  .6,  .8,  .9, .9, .9, .9, 1., 1.0, 1.0},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
};
/// How many of them count: below 23 for the tree, all for NVLSTree (Blackwell on x86 alone).
inline constexpr std::size_t kTreeCorrectionOfTree = 23;

// What a channel of a graph may carry: src/graph/search.cc, speedArray…, GB/s.

inline constexpr double kSpeedsInside[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
inline constexpr double kSpeedsBetween[] = {48, 30, 28, 24, 20, 18,  15,  12,   10,  9,
                                            7,  6,  5,  4,  3,  2.4, 1.2, 0.24, 0.12};
inline constexpr double kSpeedsInsideHopper[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
inline constexpr double kSpeedsBetweenHopper[] = {48, 45, 42, 40, 30,  24,  22,   20,  17.5,
                                                  15, 12, 6,  3,  2.4, 1.2, 0.24, 0.12};
inline constexpr double kSpeedsInsideBlackwell[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
inline constexpr double kSpeedsBetweenBlackwell[] = {
    96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12};
/// The search goes on to slower channels while they are not under about half of the best.
inline constexpr double kSpeedStepLeast = 0.49;
/// ncclTopoDupChannels: channels at least this fast are split in two …
inline constexpr double kSplitSpeed = 25;
/// … after Ampere only if this fast, or if there are few.
inline constexpr double kSplitSpeedHopper = 50;
inline constexpr std::uint32_t kSplitChannels = 4;
/// src/graph/connect.cc ncclTopoPostset: Hopper and later over several nodes, with rings faster
/// than this inside the node and fewer than 16 channels, double them again.
inline constexpr double kDoubleSpeed = 45;
inline constexpr std::uint32_t kDoubleChannels = 16;

/// src/include/device.h MAXCHANNELS; init.cc gives the search of rings half of it.
inline constexpr std::uint32_t kChannelsMax = 64;
inline constexpr std::uint32_t kSearchChannelsMax = kChannelsMax / 2;
/// src/graph/topo.h: NVLink one direction as NCCL counts it, per link: Volta and Ampere, Hopper,
/// Blackwell. PCI_BW: PCIe 3.0 x16.
inline constexpr double kNvlinkOfLink[kGenerationCount] = {20.0, 20.0, 20.6, 40.1};
inline constexpr double kPcie3 = 12.0;
/// What the data sheets say of a link; and what src/graph/topo.cc ncclTopoAddPci counts of lanes ×
/// GT/s (kvDictPciGen: width × 240 / 80 = 48 GB/s for the 64 GB/s of PCIe 5.0 x16).
inline constexpr double kNvlinkDocumented[kGenerationCount] = {25, 25, 25, 50};
inline constexpr double kPcieShare = 0.75;

// Threads and what keeps them busy: src/include/device.h, comm.h (…_THREAD_THRESHOLD).

inline constexpr std::uint32_t kThreadsLl = 512;
inline constexpr std::uint32_t kThreadsLl128 = 640;
inline constexpr std::uint32_t kThreadsSimple = 512;
inline constexpr std::uint32_t kThreadsSimpleSlowRing = 256;  // rings of at most kPcie3 in all
inline constexpr std::uint32_t kBytesOfThreadLl = 8;          // × ranks for rings
inline constexpr std::uint32_t kBytesOfThreadLl128 = 8;
inline constexpr std::uint32_t kBytesOfThreadSimple = 64;
/// src/enqueue.cc scheduleCollTasksToPlan, MinTrafficPerChannel; LL counts four times.
inline constexpr std::uint64_t kTrafficOfChannelLeast = 32U << 10;
inline constexpr std::uint64_t kTrafficTimesLl = 4;
inline constexpr std::uint64_t kCellAlignment = 16;

// Buffers, chunks: src/include/device.h, src/init.cc computeBuffSizes, src/enqueue.cc.

inline constexpr std::uint32_t kSteps = 8;                    // NCCL_STEPS
inline constexpr std::uint64_t kBufferLl = 8 * 512 * 8 * 16;  // lines × threads × steps × 16 B
inline constexpr std::uint64_t kBufferLl128 = 120 * 640 * 8 * 8;  // NCCL_LL128_ELEMS_PER_THREAD …
inline constexpr std::uint64_t kBufferSimple = 4U << 20;          // DEFAULT_BUFFSIZE
inline constexpr std::uint32_t kRingChunkSteps = kSteps / 2;      // ALLREDUCE_CHUNKSTEPS …
inline constexpr std::uint32_t kRingSliceSteps = kSteps / 4;      // ALLREDUCE_SLICESTEPS …
inline constexpr std::uint32_t kPipelineSteps = 1;                // BROADCAST_…, REDUCE_…
/// ncclProtoGrainSize: a chunk is a multiple of it.
inline constexpr std::uint64_t kGrain[kProtocolCount] = {16, 1920, 512};
inline constexpr std::uint64_t kNvlsChunk = 128U << 10;            // NCCL_NVLS_CHUNKSIZE
inline constexpr std::uint64_t kNvlsChunkSlowNetwork = 32U << 10;  // model below this bandwidth:
inline constexpr double kNvlsSlowNetwork = 150;
inline constexpr std::uint64_t kNvlsTreeChunkFourNodes = 64U << 10;  // src/transport/nvls.cc
/// src/transport/nvls.cc NVLS_NCHANNELS_…
inline constexpr std::uint32_t kNvlsChannelsHopper = 16;
inline constexpr std::uint32_t kNvlsChannelsBlackwell = 32;
inline constexpr std::uint32_t kNvlsChannelsBlackwellOneNode = 24;
inline constexpr std::uint32_t kNvlsArityMax = 32;  // NCCL_MAX_NVLS_ARITY

}  // namespace rehearsal::collective::nccl_2_30
