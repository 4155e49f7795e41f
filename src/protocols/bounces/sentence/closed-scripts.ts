/**
 * The same for Japanese and Chinese, which put no blanks between words: a clause is searched for what it
 * names.
 */
import type { Finding } from './roles.ts'

const HAS_SCRIPT = /[\u3040-\u30ff\u4e00-\u9fff]/
const RECIPIENT =
  /宛先|宛て先|ユーザ|アドレス|メールボックス|受信者|受信箱|アカウント|用户|用戶|收件人|收信人|邮箱|信箱|郵箱|邮件地址|邮件帐户|电子邮件|地址|账号|帐号|账户|帐户|帳號|此人/
const SENDER =
  /送信者|送信元|差出人|発信元|发件人|發件人|发信人|發信人|寄件人|寄件者|发件地址|您|你的|貴|お使い|ご利用|あなた/
/** Servers and names; not where something is not, which a particle behind them says. */
const HOST =
  /(?:サーバー?|ホスト|接続|服务器|服務器|伺服器|主机|主機|连接|連線|域名解析|发送方|ip)(?!に|で|には|上|中|里)/
const CONTENT = /件名|本文|ヘッダ|添付|主题|主題|正文|附件|标题|链接/
const DOMAIN = /ドメイン|域名|网域/
const ABSENT =
  /存在し(?:ません|ない|ておりません)|存在致しません|見つかりません|不明|ありません|登録されてい(?:ません|ない)|無効[なで]|いません|不存在|无效|無效|未找到|找不到|不正确|查?无此|没有(?:这个|此|该|这样)|沒有(?:這個|此)|無此|未注册|未註冊/
const GONE =
  /停止|解約|利用できません|使われて(?:い|おり)ません|休止|無効にな|削除され|閉鎖|退会|停用|禁用|冻结|凍結|注销|註銷|锁定|鎖定|已删除|已刪除|被删除|关闭|關閉/
const REFUSED = /拒否|拒绝|拒絕/
const PASSING =
  /一時|後ほど|後で|しばらく|メンテナンス|再送|再度|暂时|暫時|稍后|稍後|临时|臨時|目前|维护|維護|直到|重试|重試/

export function closedScriptFinding(clause: string): Finding | undefined {
  if (!HAS_SCRIPT.test(clause)) return undefined
  if (PASSING.test(clause)) return 'passing'
  const isAbsent = ABSENT.test(clause)
  const isClaim = isAbsent || GONE.test(clause)
  if (SENDER.test(clause)) return isClaim || REFUSED.test(clause) ? 'sender' : undefined
  if (!isClaim) return undefined
  if (HOST.test(clause)) return 'host'
  if (CONTENT.test(clause)) return 'content'
  if (!RECIPIENT.test(clause) || DOMAIN.test(clause)) return undefined
  return isAbsent ? 'recipient-absent' : 'recipient-gone'
}
