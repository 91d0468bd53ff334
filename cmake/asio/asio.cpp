// Asio's own code, compiled once for the whole tree (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>
