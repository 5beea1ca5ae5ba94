"""A GTK program that logs what happens to it: program.py KIND BESIDE LOG.

The first line of the log is "at X Y", where to act on the screen. Further lines are facts, such as
"shown" or "dialog".
"""

import sys
import time

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

KIND, BESIDE, LOG = sys.argv[1:4]


def say(fact):
    with open(LOG, "a") as log:
        log.write(fact + "\n")


said = Gtk.Label(label="nothing yet")
window = Gtk.Window(title="Program")
count = 0


def tell(*_):
    global count
    count += 1
    said.set_text("done %d" % count)
    say("shown")


def later(ms):
    return lambda *_: GLib.timeout_add(ms, lambda: tell() and False)


def shows(*_):
    say("shown")


def button(label="Act", then=None):
    made = Gtk.Button(label=label)
    if then:
        made.connect("clicked", then)
    return made


def dialog(*_):
    asked = Gtk.Dialog(title="Question", transient_for=window, modal=True)
    asked.add_button("OK", Gtk.ResponseType.OK)
    asked.get_content_area().add(Gtk.Label(label="Really?"))
    asked.connect("response", lambda it, _: it.destroy())
    asked.show_all()
    say("dialog")


def message(*_):
    asked = Gtk.MessageDialog(transient_for=window, modal=True, text="Saved", buttons=Gtk.ButtonsType.CLOSE)
    asked.connect("response", lambda it, _: it.destroy())
    asked.show_all()
    say("dialog")


def chooser(*_):
    asked = Gtk.FileChooserDialog(title="Open", transient_for=window, action=Gtk.FileChooserAction.OPEN)
    asked.add_buttons("Cancel", Gtk.ResponseType.CANCEL)
    asked.connect("response", lambda it, _: it.destroy())
    asked.show_all()
    say("dialog")


second = None


def another(*_):
    global second
    second = Gtk.Window(title="Second")
    second.set_default_size(240, 160)
    second.add(Gtk.Label(label="another window"))
    second.connect("destroy", lambda *_: say("window_closed"))
    second.show_all()
    say("window_opened")


def with_second(made):
    GLib.idle_add(lambda: another() and False)
    return made


def close_second(*_):
    second.destroy()


def page_hidden():
    book = Gtk.Notebook()
    hidden = Gtk.Label(label="hidden")
    count_up = lambda *_: (hidden.set_text("changed"), say("hidden"))  # noqa: E731
    area = Gtk.EventBox()
    area.add(Gtk.Label(label="Act"))
    area.connect("button-press-event", count_up)
    book.append_page(area, Gtk.Label(label="one"))
    book.append_page(hidden, Gtk.Label(label="two"))
    return book, area


def area(then=None, event="button-press-event", label="Act"):
    made = Gtk.EventBox()
    made.set_size_request(200, 40)
    made.add(Gtk.Label(label=label))
    if then:
        made.connect(event, then)
    return made


def menu_bar():
    bar, item, menu = Gtk.MenuBar(), Gtk.MenuItem(label="Act"), Gtk.Menu()
    for name in ("Cut", "Copy", "Paste"):
        entry = Gtk.MenuItem(label=name)
        entry.connect("activate", tell)
        menu.append(entry)
    menu.connect("map", shows)
    item.set_submenu(menu)
    bar.append(item)
    return bar, item


def combo():
    made = Gtk.ComboBoxText()
    for name in ("one", "two", "three"):
        made.append_text(name)
    made.set_active(0)
    made.connect("notify::popup-shown", shows)
    made.connect("changed", shows)
    return made


def entry(text="", **more):
    made = Gtk.Entry(text=text, **more)
    made.connect("changed", shows)
    made.connect("notify::cursor-position", lambda *_: say("caret"))
    return made


def text_view(editable=True):
    made = Gtk.TextView(editable=editable)
    made.get_buffer().set_text("a first line\na second line\n")
    made.get_buffer().connect("changed", shows)
    made.set_size_request(300, 100)
    return made


def check(kind=Gtk.CheckButton, active=False, **more):
    made = kind(**more)
    made.set_active(active)
    made.connect("notify::active", shows)
    return made


def radio(second_of_two):
    box = Gtk.Box()
    one = Gtk.RadioButton.new_with_label(None, "first")
    two = Gtk.RadioButton.new_with_label_from_widget(one, "second")
    two.connect("toggled", shows)
    box.add(one)
    box.add(two)
    return box, two if second_of_two else one


def scale():
    made = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
    made.set_size_request(300, -1)
    made.connect("value-changed", shows)
    return made


def spin():
    made = Gtk.SpinButton.new_with_range(0, 10, 1)
    made.connect("value-changed", shows)
    return made


def expander():
    made = Gtk.Expander(label="Act")
    made.add(Gtk.Label(label="what was folded"))
    made.connect("notify::expanded", shows)
    return made


def listed():
    made = Gtk.ListBox()
    for name in ("one", "two", "three"):
        made.add(Gtk.Label(label=name))
    made.connect("row-selected", shows)
    made.set_size_request(200, 100)
    return made


def scroller(lines):
    made = Gtk.ScrolledWindow()
    made.set_size_request(300, 120)
    made.add(Gtk.Label(label="\n".join("line %d" % n for n in range(lines))))
    made.get_vadjustment().connect("value-changed", lambda *_: say("scrolled"))
    return made


def drawing(paints):
    made = Gtk.EventBox()
    made.set_size_request(200, 80)
    colour = lambda name: made.override_background_color(Gtk.StateFlags.NORMAL, Gdk.RGBA(*name))  # noqa: E731
    colour((0.8, 0.8, 0.8, 1))

    def press(*_):
        if paints:
            colour((0.9, 0.1, 0.1, 1))
            say("shown")
        made.queue_draw()

    made.connect("button-press-event", press)
    return made


def popover():
    made = button()
    shown = Gtk.Popover(relative_to=made)
    inside = Gtk.Label(label="in the popover")
    inside.show()
    shown.add(inside)
    made.connect("clicked", lambda *_: (shown.popup(), say("shown")))
    return made


def tabs():
    book = Gtk.Notebook()
    first = Gtk.Label(label="first tab")
    tab = Gtk.Label(label="Act")
    book.append_page(first, Gtk.Label(label="one"))
    book.append_page(Gtk.Label(label="second tab, which differs"), tab)
    book.connect("switch-page", shows)
    return book, tab


def title(*_):
    window.set_title("Renamed")
    say("title")


def bar():
    made = Gtk.ProgressBar()
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    press = button(then=lambda *_: (made.set_fraction(0.7), say("shown")))
    box.add(press)
    box.add(made)
    return box, press


KINDS = {
    "button-tells": lambda: button(then=tell),
    "button-idle": button,
    "button-label": lambda: button(then=lambda it: (it.set_label("Pressed"), say("shown"))),
    "button-later": lambda: button(then=later(80)),
    "button-progress": bar,
    "button-dialog": lambda: button(then=dialog),
    "button-message": lambda: button(then=message),
    "button-chooser": lambda: button(then=chooser),
    "button-window": lambda: button(then=another),
    "button-closes": lambda: with_second(button(then=close_second)),
    "button-popover": popover,
    "area-tells": lambda: area(tell),
    "area-idle": area,
    "area-hidden": page_hidden,
    "area-title": lambda: area(title),
    "area-later": lambda: area(later(80)),
    "area-slow": lambda: area(lambda *_: (time.sleep(0.4), tell())),
    "area-log": lambda: area(lambda *_: say("hidden")),
    "check": lambda: check(label="Act"),
    "check-active": lambda: check(active=True, label="Act"),
    "toggle": lambda: check(Gtk.ToggleButton, label="Act"),
    "switch": lambda: check(Gtk.Switch),
    "radio": lambda: radio(True),
    "radio-chosen": lambda: radio(False),
    "menu": menu_bar,
    "combo": combo,
    "entry": entry,
    "entry-filled": lambda: entry("some words"),
    "entry-fixed": lambda: entry("fixed", editable=False),
    "entry-full": lambda: entry("abc", max_length=3),
    "entry-password": lambda: entry(visibility=False),
    "text": text_view,
    "text-fixed": lambda: text_view(False),
    "scale": scale,
    "spin": spin,
    "expander": expander,
    "list": listed,
    "scroller": lambda: scroller(100),
    "scroller-short": lambda: scroller(2),
    "drawing": lambda: drawing(True),
    "drawing-same": lambda: drawing(False),
    "tabs": tabs,
}


def make():
    if KIND.endswith("-insensitive"):
        made = KINDS[KIND.removesuffix("-insensitive")]()
        made.set_sensitive(False)
        return made, made
    made = KINDS[KIND]()
    return made if isinstance(made, tuple) else (made, made)


def beside():
    if BESIDE == "spinner":
        made = Gtk.Spinner()
        made.set_size_request(48, 48)
        made.start()
        return made
    if BESIDE == "clock":
        made = Gtk.Label(label=time.strftime("%H:%M:%S"))
        GLib.timeout_add(1000, lambda: made.set_text(time.strftime("%H:%M:%S")) or True)
        return made
    if BESIDE == "pulse":
        made = Gtk.ProgressBar()
        GLib.timeout_add(80, lambda: made.pulse() or True)
        return made
    return Gtk.Label(label="still")


made, acted = make()
grid = Gtk.Fixed()
# The first widget gets the focus when the window opens, as an agent finds most programs.
first = Gtk.Button(label="first")
grid.put(first, 40, 20)
grid.put(made, 40, 90)
grid.put(said, 40, 340)
grid.put(beside(), 440, 90)
acted.set_property("name", "acted")
acted.get_accessible().set_name("Act")
window.add(grid)
window.set_default_size(700, 420)
window.move(200, 120)
window.connect("destroy", lambda *_: (say("window_closed"), Gtk.main_quit()))
window.connect("key-press-event", lambda _, event: event.keyval == Gdk.KEY_F9 and tell())
window.show_all()
first.grab_focus()


def watch_focus(widget):
    widget.connect("focus-in-event", lambda *_: say("focus") and False)
    if isinstance(widget, Gtk.Container):
        widget.forall(watch_focus)


def place():
    at = acted.get_allocation()
    x, y = acted.translate_coordinates(window, at.width // 2, at.height // 2)
    _, left, top = window.get_window().get_origin()
    grid.forall(watch_focus)
    if "--focused" in sys.argv:
        acted.grab_focus()
    say("at %d %d" % (left + x, top + y))


GLib.timeout_add(250, lambda: place() and False)
Gtk.main()
