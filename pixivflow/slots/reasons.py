"""What each stored reason means: where it arose, whether trying again can help, and what people are told.

Only the code is stored. Stage, advice and protocol code are derived from it, so better words never need a migration.
The Chinese texts are data of the receivers' side and stay exactly as they are.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from pixivflow.slots.model import ReasonCode


class Stage(StrEnum):
    """The part of a run in which a reason arises."""

    ACQUISITION = "acquisition"
    DOWNLOAD = "download"
    DELIVERY = "delivery"
    EXECUTION = "execution"
    CONFIGURATION = "configuration"


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """`retryable` is advice for a person, not the announcement of a retry. `protocol`: the code of the job protocol."""

    stage: Stage
    retryable: bool
    zh: str
    en: str
    hint_zh: str
    hint_en: str
    protocol: str


def _row(stage: Stage, retryable: bool, protocol: str, zh: str, en: str, hint_zh: str, hint_en: str) -> Reason:
    return Reason(stage=stage, retryable=retryable, zh=zh, en=en, hint_zh=hint_zh, hint_en=hint_en, protocol=protocol)


_A, _D, _X, _E, _F = Stage.ACQUISITION, Stage.DOWNLOAD, Stage.DELIVERY, Stage.EXECUTION, Stage.CONFIGURATION

REASONS: Final[Mapping[ReasonCode, Reason]] = {
    ReasonCode.NO_CANDIDATE: _row(
        _A,
        True,
        "no_candidate",
        "没有找到合适的新作品",
        "No suitable new work found",
        "可等待下次任务，或使用“放宽条件重试”。",
        "Wait for the next run or retry relaxed.",
    ),
    ReasonCode.DUPLICATE_EXHAUSTED: _row(
        _A,
        True,
        "no_candidate",
        "候选作品均已投稿过",
        "All candidates were already submitted",
        "候选均已处理，可等待新作品或放宽条件重试。",
        "Wait for new works or retry relaxed.",
    ),
    ReasonCode.FILTER_EXHAUSTED: _row(
        _A,
        True,
        "no_candidate",
        "没有符合筛选条件的新作品",
        "No new work passes the filters",
        "检查筛选条件，或使用“放宽条件重试”。",
        "Review the filters or retry relaxed.",
    ),
    ReasonCode.DOWNLOAD_TIMEOUT: _row(
        _D,
        True,
        "source_error",
        "图片下载超时",
        "Image download timed out",
        "可稍后重试；若持续发生，请检查 Pixiv 连接。",
        "Retry; if it persists check the Pixiv connection.",
    ),
    ReasonCode.DOWNLOAD_FAILED: _row(
        _D,
        True,
        "source_error",
        "图片下载失败",
        "Image download failed",
        "可稍后重试；若持续发生，请检查网络与存储空间。",
        "Retry; check network and disk.",
    ),
    ReasonCode.METADATA_FAILED: _row(
        _A,
        True,
        "source_error",
        "作品信息获取失败",
        "Work details could not be read",
        "可稍后重试；若只影响单个作品，请检查作品是否已删除或转为私密。",
        "Retry; if one work only, it may be deleted or private.",
    ),
    ReasonCode.RATE_LIMITED: _row(
        _A,
        True,
        "quota_exceeded",
        "Pixiv 请求频率受限",
        "Pixiv is rate limiting us",
        "等待限流窗口结束后再重试。",
        "Wait for the limit window to end.",
    ),
    ReasonCode.AUTH_FAILED: _row(
        _A,
        False,
        "auth_error",
        "Pixiv 登录已失效，需要重新登录",
        "Pixiv login expired; sign in again",
        "检查并刷新对应 Pixiv 账号的认证状态。",
        "Refresh that account's credentials.",
    ),
    ReasonCode.REMOTE_HTTP_ERROR: _row(
        _A,
        True,
        "source_error",
        "Pixiv 服务器返回错误",
        "Pixiv answered with an error",
        "可稍后重试；若持续发生，请检查 Pixiv 服务状态。",
        "Retry; check Pixiv status.",
    ),
    ReasonCode.DELIVERY_FAILED: _row(
        _X,
        True,
        "delivery_failed",
        "投稿投递失败",
        "Submission could not be delivered",
        "检查 TelePost 可达性与投稿接口状态后重试。",
        "Check the receiver, then retry.",
    ),
    ReasonCode.TELEPOST_REJECTED: _row(
        _X,
        False,
        "delivery_rejected",
        "投稿被接收端拒绝",
        "The receiver rejected the submission",
        "检查投稿内容和 TelePost 接口契约。",
        "Check content and interface contract.",
    ),
    ReasonCode.TELEGRAM_FAILED: _row(
        _X,
        True,
        "delivery_failed",
        "Telegram 发送失败",
        "Telegram send failed",
        "检查 Telegram 可达性与 Bot 权限后重试。",
        "Check Telegram and bot rights.",
    ),
    ReasonCode.NETWORK_ERROR: _row(
        _E,
        True,
        "source_error",
        "网络异常",
        "Network problem",
        "检查执行端网络；恢复后可重试。",
        "Check the worker's network.",
    ),
    ReasonCode.EXECUTION_TIMEOUT: _row(
        _E,
        True,
        "deadline_exceeded",
        "执行超时",
        "Run timed out",
        "检查执行耗时和资源使用后重试。",
        "Check duration and resources.",
    ),
    ReasonCode.CONFIGURATION_ERROR: _row(
        _F,
        False,
        "internal_error",
        "配置错误",
        "Configuration error",
        "修正配置并完成校验后再重试。",
        "Fix and validate the configuration.",
    ),
    ReasonCode.INTERNAL_ERROR: _row(
        _E,
        False,
        "internal_error",
        "内部错误",
        "Internal error",
        "查看对应执行记录；若重复发生，请提交诊断信息。",
        "Read the run record; report if it repeats.",
    ),
    ReasonCode.QUEUED_TOO_LONG: _row(
        _E,
        True,
        "queued_too_long",
        "排队超时，未能开始执行",
        "Queued too long; never started",
        "队列长时间未开始执行：检查调度器是否在运行/被 resource 队列阻塞后重试。",
        "Check that the scheduler runs and is not blocked.",
    ),
    ReasonCode.STALLED_NO_HEARTBEAT: _row(
        _E,
        True,
        "stalled_no_progress",
        "执行中断，长时间没有进展",
        "Run interrupted; no progress",
        "执行中途失去心跳（进程中断或卡死）：重启后可重试。",
        "Heartbeat lost; retry after restart.",
    ),
    ReasonCode.DELIVERY_ABANDONED: _row(
        _X,
        True,
        "delivery_abandoned",
        "投稿未被处理，已放弃",
        "Submission was never processed; given up",
        "投递意图已无重试队列（被拒绝或取消）：检查接收端后重新重抓。",
        "Nothing retries it; check the receiver, refetch.",
    ),
    ReasonCode.CANCELLED_BY_CONSUMER: _row(
        _E,
        False,
        "cancelled_by_consumer",
        "任务已被取消",
        "Job was cancelled",
        "用户已取消，无需重试。",
        "Cancelled on purpose.",
    ),
}
