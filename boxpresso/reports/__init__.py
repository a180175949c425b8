"""Reports as single HTML files: of a net and its times, and of a test on pictures."""

from .evaluation_report import Pictures, write_test_report
from .net_report import net_page, write_net_report
from .page import check_place

__all__ = ["Pictures", "check_place", "net_page", "write_net_report", "write_test_report"]
