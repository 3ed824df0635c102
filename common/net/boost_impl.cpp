// The one file in which Asio and Beast are compiled: 10 s here instead of in every file that uses the
// network.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
