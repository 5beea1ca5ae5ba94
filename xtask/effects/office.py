"""Drives the LibreOffice of the corpus through its own interface.

office.py open KIND   shows a new document: writer, writer-long, calc or calc-long
office.py state       prints one line for each thing that can be compared before and after an action
"""

import subprocess
import sys
import time

import uno

PIPE = "pipe,name=effects;urp;StarOffice.ComponentContext"
# Sessions have no /etc/libreoffice, where Debian keeps the settings; this is the package's own copy.
REGISTRY = "file:///usr/lib/libreoffice/share/.registry"
USER = "${$BRAND_BASE_DIR/program/bootstraprc:UserInstallation}/user/registrymodifications.xcu"
LAYERS = "-env:CONFIGURATION_LAYERS=xcsxcu:%s res:%s user:!%s" % (REGISTRY, REGISTRY, USER)
OPTIONS = ["--norestore", "--nologo", "--nodefault", "--accept=" + PIPE, LAYERS]


def connect(tries):
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    for _ in range(tries):
        try:
            return resolver.resolve("uno:" + PIPE)
        except Exception:
            time.sleep(0.2)
    return None


def running():
    there = connect(1)
    if there is None:
        said = open("/tmp/soffice.log", "w")
        subprocess.Popen(["soffice", *OPTIONS], start_new_session=True, stdout=said, stderr=said)
        there = connect(150)
    return there or sys.exit("LibreOffice does not answer: " + open("/tmp/soffice.log").read())


def desktop(there):
    return there.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", there)


def documents(desk):
    found = desk.getComponents().createEnumeration()
    while found.hasMoreElements():
        one = found.nextElement()
        if hasattr(one, "setModified"):
            yield one


def open_new(kind):
    desk = desktop(running())
    earlier = list(documents(desk))
    program, _, long = kind.partition("-")
    factory = "private:factory/" + {"writer": "swriter", "calc": "scalc"}[program]
    document = desk.loadComponentFromURL(factory, "_blank", 0, ())
    if program == "writer":
        document.Text.String = "\n".join("Line %d of the text" % n for n in range(200 if long else 5))
        document.getCurrentController().getViewCursor().gotoStart(False)
    else:
        sheet = document.Sheets.getByIndex(0)
        for row in range(5):
            sheet.getCellByPosition(1, row).String = "cell %d" % row
    # Nothing can be undone.
    document.getUndoManager().reset()
    document.setModified(False)
    window = document.getCurrentController().getFrame().getContainerWindow()
    window.setPosSize(60, 40, 1100, 660, 15)
    # The last document that closes would end the program.
    for one in earlier:
        one.setModified(False)
        one.close(True)
    window.setFocus()


def state():
    there = connect(20)
    toolkit = there.ServiceManager.createInstanceWithContext("com.sun.star.awt.Toolkit", there)
    print("windows", toolkit.getTopWindowCount())
    print("frames", desktop(there).getFrames().getCount())
    document = desktop(there).getCurrentComponent()
    if document is None:
        return
    controller = document.getCurrentController()
    if document.supportsService("com.sun.star.text.TextDocument"):
        cursor = controller.getViewCursor()
        where = cursor.getPosition()
        print("text", repr(document.Text.String))
        print("caret", where.X, where.Y, repr(cursor.String))
        print("look", cursor.CharWeight, cursor.CharPosture, cursor.ParaAdjust)
        print("zoom", controller.ViewSettings.ZoomValue)
        # The caret, the zoom, and the visible part.
        print("scroll", controller.getViewData().split(";")[3:5])
    else:
        sheet = controller.ActiveSheet
        cells = sheet.getCellRangeByName("A1:H30").getDataArray()
        chosen = document.getCurrentSelection()
        print("text", repr([cell for row in cells for cell in row if cell != ""]))
        print("caret", chosen.AbsoluteName)
        print("sheet", sheet.Name)
        print("scroll", controller.FirstVisibleRow, controller.FirstVisibleColumn)
        print("look", chosen.CharWeight)


if sys.argv[1] == "open":
    open_new(sys.argv[2])
else:
    state()
