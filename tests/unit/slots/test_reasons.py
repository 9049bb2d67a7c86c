"""What a stored reason means to people and to the job protocol."""

import pytest

from pixivflow.slots.model import ReasonCode
from pixivflow.slots.reasons import REASONS
from pixivflow.slots.texts import REASON_MESSAGE_MAX

TABLE = """
no_candidate acquisition yes no_candidate 没有找到合适的新作品
duplicate_exhausted acquisition yes no_candidate 候选作品均已投稿过
filter_exhausted acquisition yes no_candidate 没有符合筛选条件的新作品
download_timeout download yes source_error 图片下载超时
download_failed download yes source_error 图片下载失败
metadata_failed acquisition yes source_error 作品信息获取失败
rate_limited acquisition yes quota_exceeded Pixiv 请求频率受限
auth_failed acquisition no auth_error Pixiv 登录已失效，需要重新登录
remote_http_error acquisition yes source_error Pixiv 服务器返回错误
delivery_failed delivery yes delivery_failed 投稿投递失败
telepost_rejected delivery no delivery_rejected 投稿被接收端拒绝
telegram_failed delivery yes delivery_failed Telegram 发送失败
network_error execution yes source_error 网络异常
execution_timeout execution yes deadline_exceeded 执行超时
configuration_error configuration no internal_error 配置错误
internal_error execution no internal_error 内部错误
queued_too_long execution yes queued_too_long 排队超时，未能开始执行
stalled_no_heartbeat execution yes stalled_no_progress 执行中断，长时间没有进展
delivery_abandoned delivery yes delivery_abandoned 投稿未被处理，已放弃
cancelled_by_consumer execution no cancelled_by_consumer 任务已被取消
"""


@pytest.mark.parametrize("row", TABLE.strip().splitlines())
def test_each_reason_means_one_thing(row: str) -> None:
    code, stage, retryable, protocol, chinese = row.split(" ", 4)
    reason = REASONS[ReasonCode(code)]
    assert (reason.stage, reason.retryable, reason.protocol) == (stage, retryable == "yes", protocol)
    assert reason.zh == chinese


def test_every_reason_is_in_that_table_and_has_words_for_everybody() -> None:
    assert set(REASONS) == set(ReasonCode) == {ReasonCode(row.split()[0]) for row in TABLE.strip().splitlines()}
    for reason in REASONS.values():
        assert all((reason.zh, reason.en, reason.hint_zh, reason.hint_en))
        assert len(reason.zh) <= REASON_MESSAGE_MAX
