// The one place where Asio and Beast are compiled (feasibility: 10 s here instead of in every network file).
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
