#include "cli/top/curses.hpp"

#include "cli/screen.hpp"
#include "cli/terminal_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <unistd.h>
#define NCURSES_NOMACROS
#include <curses.h>

namespace binnacle::cli::top {
namespace {

// Escape is also the first byte of other keys' sequences. If no further byte comes within this time, Escape
// itself was pressed.
constexpr int escape_ms = 100;

constexpr wint_t ctrl_l = 12, ctrl_h = 8, del = 127, esc = 27;

// The colours of Okabe and Ito (jfly.uni-koeln.de/color, 2008): the nearest of xterm's 256 colours, and of 8
// colours.
struct tint {
  short of_256, of_8;
};
constexpr std::array<tint, 7> tints = {{{-1, -1},
                                        {-1, -1},
                                        {-1, -1},
                                        {36, COLOR_GREEN},
                                        {74, COLOR_CYAN},
                                        {214, COLOR_YELLOW},
                                        {175, COLOR_MAGENTA}}};
constexpr tint violating_tint = {208, COLOR_RED};

/// Whether the terminal's description has this string capability of terminfo(5).
bool has_string(const char* capability) {
  // tigetstr() returns -1 for a name that is no string capability, and null for an absent one. Source:
  // curs_terminfo(3X).
  const char* s = tigetstr(capability);
  return s != nullptr && s != reinterpret_cast<const char*>(-1);
}

std::string in_utf8(wint_t code) {
  std::string out;
  const auto c = static_cast<std::uint32_t>(code);
  const auto byte = [&](std::uint32_t v) { out += static_cast<char>(v); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xc0 | c >> 6);
    byte(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    byte(0xe0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  } else {
    byte(0xf0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3f));
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  }
  return out;
}

std::optional<event> mouse_event() {
  MEVENT m{};
  if (getmouse(&m) != OK || m.x < 0 || m.y < 0) return std::nullopt;
  event e;
  e.x = static_cast<std::size_t>(m.x);
  e.y = static_cast<std::size_t>(m.y);
  if ((m.bstate & BUTTON4_PRESSED) != 0) {
    e.what = key::wheel_up;
  } else if ((m.bstate & BUTTON5_PRESSED) != 0) {
    e.what = key::wheel_down;
  } else if ((m.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) != 0) {
    e.what = key::click;
  } else {
    return std::nullopt;
  }
  return e;
}

std::optional<event> named_key(wint_t code) {
  switch (code) {
    case KEY_UP: return event{key::up};
    case KEY_DOWN: return event{key::down};
    case KEY_LEFT: return event{key::left};
    case KEY_RIGHT: return event{key::right};
    case KEY_PPAGE: return event{key::page_up};
    case KEY_NPAGE: return event{key::page_down};
    case KEY_HOME: return event{key::home};
    case KEY_END: return event{key::end};
    case KEY_ENTER: return event{key::enter};
    case KEY_BACKSPACE: return event{key::backspace};
    case KEY_F(1): return event{key::help};
    case KEY_F(10): return event{key::quit};
    case KEY_MOUSE: return mouse_event();
    default: return std::nullopt;
  }
}

}  // namespace

struct curses::impl {
  impl() = default;
  ~impl() {
    if (on != nullptr) {
      endwin();
      delscreen(on);
    }
    if (opened != nullptr) std::fclose(opened);
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  attr_t attributes(const span& s, look how) const {
    attr_t a = A_NORMAL;
    if (how == look::header) a |= s.marked ? A_REVERSE | A_BOLD : A_BOLD | A_UNDERLINE;
    if (how == look::selected) a |= A_REVERSE;
    if (how == look::bar) a |= A_REVERSE;
    if (s.with == ink::strong) a |= A_BOLD;
    if (s.with == ink::dim && how == look::plain) a |= A_DIM;
    if (s.with == ink::violating) a |= A_BOLD;
    if (colours && how == look::plain) a |= COLOR_PAIR(static_cast<int>(s.with));
    return a;
  }

  SCREEN* on = nullptr;
  std::FILE* opened = nullptr;  // the terminal, if standard input is not one
  int keyboard = STDIN_FILENO;
  bool colours = false, utf8 = false;
};

curses::curses(std::unique_ptr<impl> of) : impl_(std::move(of)) {}
curses::~curses() = default;

result<std::unique_ptr<curses>> curses::open(bool colours) {
  auto of = std::make_unique<impl>();
  setlocale(LC_CTYPE, "");  // which characters the terminal shows
  of->utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  std::FILE* keys = stdin;
  if (isatty(STDIN_FILENO) == 0) {
    keys = of->opened = std::fopen("/dev/tty", "r");
    if (keys == nullptr)
      return error{errc::io, "there is no terminal to read keys from; binnacle top --once prints once"};
    of->keyboard = fileno(keys);
  }
  const char* type = std::getenv("TERM");
  of->on = newterm(nullptr, stdout, keys);
  if (of->on == nullptr || !has_string("cup")) {
    return error{errc::not_found,
                 fmt::format("a terminal of type \"{}\" is unknown here, or cannot place text (TERM); "
                             "binnacle top --once prints once",
                             for_terminal(type == nullptr ? "" : type))};
  }
  set_escdelay(escape_ms);
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  leaveok(stdscr, FALSE);
  curs_set(0);
  mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
  mouseinterval(0);  // report a press at once, without waiting for a double click
  if (colours && has_colors()) {
    start_color();
    use_default_colors();
    of->colours = true;
    const bool many = COLORS >= 256;
    for (std::size_t i = 1; i < tints.size(); ++i)
      init_pair(static_cast<short>(i), many ? tints[i].of_256 : tints[i].of_8, -1);
    init_pair(static_cast<short>(ink::violating), many ? violating_tint.of_256 : violating_tint.of_8, -1);
  }
  return std::unique_ptr<curses>(new curses(std::move(of)));
}

bool curses::utf8() const noexcept { return impl_->utf8; }
int curses::keyboard() const noexcept { return impl_->keyboard; }
std::size_t curses::width() const noexcept { return static_cast<std::size_t>(getmaxx(stdscr)); }
std::size_t curses::height() const noexcept { return static_cast<std::size_t>(getmaxy(stdscr)); }

void curses::resized() {
  const auto [width, height] = screen_dimensions();
  resize_term(static_cast<int>(height), static_cast<int>(width));
  clearok(stdscr, TRUE);
}

void curses::show(const page& p) {
  erase();
  int y = 0, end = 0;
  for (const line& l : p.lines) {
    if (l.how == look::selected || l.how == look::bar || l.how == look::header) {
      attrset(l.how == look::header ? A_BOLD | A_UNDERLINE : A_REVERSE);
      mvhline(y, 0, ' ' | (l.how == look::header ? A_BOLD | A_UNDERLINE : A_REVERSE), getmaxx(stdscr));
    }
    for (const span& s : l.spans) {
      attrset(impl_->attributes(s, l.how));
      mvaddstr(y, static_cast<int>(s.x), s.text.c_str());
      end = static_cast<int>(s.x + columns_of(s.text));
    }
    attrset(A_NORMAL);
    ++y;
  }
  curs_set(p.typing ? 1 : 0);
  if (p.typing && y > 0) ::move(y - 1, std::min(end, getmaxx(stdscr) - 1));
  refresh();
}

std::optional<event> curses::next() {
  for (;;) {
    wint_t code = 0;
    const int what = get_wch(&code);
    if (what == ERR) return std::nullopt;
    if (what == KEY_CODE_YES) {
      if (auto e = named_key(code)) return e;
      continue;
    }
    switch (code) {
      case '\n':
      case '\r': return event{key::enter};
      case esc: return event{key::escape};
      case ctrl_h:
      case del: return event{key::backspace};
      case ctrl_l: clearok(stdscr, TRUE); return event{key::character};
      default: break;
    }
    event e{key::character, in_utf8(code)};
    if (for_terminal(e.text) == e.text) return e;
  }
}

}  // namespace binnacle::cli::top
