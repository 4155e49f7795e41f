/**
 * The same for Japanese, Chinese and Korean, which put no blanks between all words: a clause is searched for
 * what it names, and may hold nothing else.
 */
import type { Finding } from './roles.ts'

const HAS_SCRIPT = /[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/
const RECIPIENT =
  /宛先|宛て先|ユーザー?|アドレス|メールボックス|受信者|受信箱|アカウント|用户|用戶|收件人|收信人|邮箱|信箱|郵箱|邮件地址|邮件帐户|电子邮件|地址|账号|帐号|账户|帐户|帳號|此人|사용자|수신자|받는 사람|메일함|계정|주소|사서함/g
const SENDER =
  /送信者|送信元|差出人|発信元|发件人|發件人|发信人|發信人|寄件人|寄件者|发件地址|您|你的|貴|お使い|ご利用|あなた|발신자|보낸|보내는|귀하/
/** Servers and names; not where something is not, which a particle behind them says. */
const HOST =
  /(?:サーバー?|ホスト|接続|服务器|服務器|伺服器|主机|主機|连接|連線|域名解析|发送方|서버|호스트|ip)(?!に|で|には|上|中|里|에)/
const CONTENT = /件名|本文|ヘッダ|添付|主题|主題|正文|附件|标题|链接|제목|본문|첨부/
const DOMAIN = /ドメイン|域名|网域|도메인/
const ABSENT =
  /存在し(?:ません|ない|ておりません)|存在致しません|見つかりません(?:でした)?|不明|ありません|登録されてい(?:ません|ない)|無効[なで]|いません|不存在|无效|無效|没有找到|沒有找到|未找到|找不到|不正确|错误|錯誤|查?无此|没有(?:这个|此|该|这样)|沒有(?:這個|此)|無此|未注册|未註冊|(?:찾을 수|존재하지) (?:없|않)\S{0,3}|없습니다|없는|알 수 없는|유효하지 않/g
const GONE =
  /停止|解約|利用できません|使(?:われ|用され)て(?:い|おり)ません|休止|無効にな|削除され|閉鎖|退会|停用|禁用|冻结|凍結|注销|註銷|锁定|鎖定|已删除|已刪除|被删除|删除|关闭|關閉|비활성|삭제|정지|해지|탈퇴|폐쇄/g
const REFUSED = /拒否|拒绝|拒絕|拉黑|거부|차단/
const PASSING =
  /一時|後ほど|後で|しばらく|メンテナンス|再送|再度|暂时|暫時|稍后|稍後|临时|臨時|目前|维护|維護|直到|重试|重試|일시|나중에|잠시/
/** Words that may occur beside the recipient and its predicate. */
const HARMLESS =
  /指定|該当|登録|電子|メール|サーバー?[にで上]|システム|系统|系統|服务器[上中里]|服務器[上中]|域|名前|所有|永久|完全|弊社|当社|公司|社員|员工|お客様|名義|確認|查询|查無|管理员|管理者|電子|电子|邮件|郵件|信息|信頼|这个|該|现在|已经|已被|目标|目標|対象|入力|输入|您所?(?:输入|发送|填写)的|收件|使用|邮局|帐户|メールボックス|메일|시스템|해당|지정/g

export function closedScriptFinding(clause: string): Finding | undefined {
  if (!HAS_SCRIPT.test(clause)) return undefined
  if (PASSING.test(clause)) return 'passing'
  const isAbsent = clause.search(ABSENT) >= 0
  const isClaim = isAbsent || clause.search(GONE) >= 0
  if (SENDER.test(clause.replace(HARMLESS, ' ')))
    return isClaim || REFUSED.test(clause) ? 'sender' : undefined
  if (!isClaim) return undefined
  if (HOST.test(clause)) return 'host'
  if (CONTENT.test(clause)) return 'content'
  if (clause.search(RECIPIENT) < 0 || DOMAIN.test(clause) || saysMore(clause)) return undefined
  return isAbsent ? 'recipient-absent' : 'recipient-gone'
}

/** Tells whether another word of two or more characters stands in the clause, apart from particles. */
function saysMore(clause: string): boolean {
  const rest = [ABSENT, GONE, RECIPIENT, HARMLESS].reduce((text, words) => text.replace(words, ' '), clause)
  return /[\u30a0-\u30fa\u4e00-\u9fff]{2}|[\uac00-\ud7af]{3}/.test(rest)
}
