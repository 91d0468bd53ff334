#!/usr/bin/env bash
# In the guest of scripts/rdma-vm: the tests of the kernel's faults that need netem or a
# card that has pause frames (--card).
#
#   kernel-faults-guest.sh HELPER_TESTS DRILL_TESTS
set -uo pipefail

export REHEARSAL_TEST_HAS_NETEM=1 REHEARSAL_TEST_CARD=eth0
status=0
"$1" --gtest_brief=1 --gtest_filter='NetemFaults.*:FlowControlFaults.*' || status=1
"$2" --gtest_brief=1 --gtest_filter='NetemDrill.*' || status=1
exit $status
