"""Makes the types of PySide that Hearth names, before a second thread can ask for one.

PySide makes a type when its name is first asked for, and does not guard that where Python has a GIL
(libshiboken's sbkmodule.cpp; newer ones have a lock for builds without it): of two threads that ask
for the same one, the second finds it half made, or the process ends with a segmentation fault. The
modules of the window are imported on a thread of their own while the window lives, so what they
name is made before that, on the window's thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

NAMES = {
    "PySide6.QtCore": (
        "QAbstractItemModel QAbstractListModel QAbstractTableModel QBuffer QByteArray "
        "QCoreApplication QDate QDateTime QEvent QEventLoop QFileSystemWatcher QIODevice "
        "QItemSelection QItemSelectionModel QKeyCombination QLibraryInfo QLocale QLockFile "
        "QMargins QMarginsF QMimeData QModelIndex QObject QPersistentModelIndex QPoint QPointF "
        "QRect QRectF QSize QSizeF QSocketNotifier QTime QTimer QTranslator QUrl Qt Signal "
        "SignalInstance Slot"
    ),
    "PySide6.QtGui": (
        "QAccessible QAccessibleAnnouncementEvent QAction QActionGroup QBrush QCloseEvent QColor "
        "QContextMenuEvent QCursor QDesktopServices QDragEnterEvent QDragLeaveEvent "
        "QDragMoveEvent QDropEvent QEnterEvent QFocusEvent QFont QFontDatabase QFontMetrics "
        "QFontMetricsF QGuiApplication QHideEvent QIcon QImage QImageReader QKeyEvent "
        "QKeySequence QMouseEvent QPageLayout QPageSize QPaintEvent QPainter QPainterPath "
        "QPalette QPdfWriter QPen QPixmap QPixmapCache QResizeEvent QShowEvent QTextBlock "
        "QTextBlockFormat QTextCharFormat QTextCursor QTextDocument QTextFormat QTextFragment "
        "QTextFrameFormat QTextImageFormat QTextLayout QTextLength QTextOption QTextTableFormat "
        "QWheelEvent"
    ),
    "PySide6.QtSvg": "QSvgRenderer",
    "PySide6.QtWidgets": (
        "QAbstractButton QAbstractItemDelegate QAbstractItemView QApplication QBoxLayout "
        "QButtonGroup QCheckBox QComboBox QDialog QDoubleSpinBox QFileDialog QFormLayout QFrame "
        "QGridLayout QHBoxLayout QHeaderView QInputDialog QLabel QLayout QLineEdit QListView "
        "QListWidget QListWidgetItem QMainWindow QMenu QPlainTextEdit QProgressBar QPushButton "
        "QScrollArea QSizePolicy QSpacerItem QSpinBox QSplitter QStackedWidget QStyle "
        "QStyleOptionButton QStyleOptionViewItem QStylePainter QStyledItemDelegate "
        "QSystemTrayIcon QTableView QTextBrowser QTextEdit QToolButton QTreeWidget "
        "QTreeWidgetItem QVBoxLayout QWidget"
    ),
}
"""All that the modules of `app` import from PySide; a test holds it to that."""


def make_types() -> Iterator[None]:
    """In short steps, on the thread of the window."""
    for module, names in NAMES.items():
        home = import_module(module)
        for name in names.split():
            getattr(home, name)
        yield
