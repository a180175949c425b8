"""Reports as single HTML files: of a net and its times, of a test on pictures, and of a net in 8 bits."""

from .evaluation_report import Pictures, write_test_report
from .net_report import net_page, write_net_report
from .page import check_place
from .quantize_report import Apart, write_quantize_report

__all__ = [
    "Apart",
    "Pictures",
    "check_place",
    "net_page",
    "write_net_report",
    "write_quantize_report",
    "write_test_report",
]
