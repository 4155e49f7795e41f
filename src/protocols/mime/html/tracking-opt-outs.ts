/**
 * Attributes with which senders exclude a link from click tracking. Each email service has its own, and mail
 * that was written for one keeps it: `clicktracking="off"` (SendGrid), `data-pm-no-track` (Postmark),
 * `data-msys-clicktrack="0"` (SparkPost), `ses:no-track` (Amazon SES), `mc:disable-tracking` (Mailchimp,
 * Mandrill), `disable-tracking="true"` (Mailgun), `autotrack="false"` (MessageGears), `cm_dontconvertlink`
 * (Campaign Monitor), `nottracked` (Infusionsoft), `class="untracked"` (Customer.io). The names are read by
 * their words, so that others of the kind count, too.
 */

/** Names without punctuation that exclude a link unless the value is false. */
const EXCLUDES =
  /(?:no|not|un|dont|donot|disable|without|skip|exclude(?:from)?)(?:click|link)*track|dontconvertlink/
/** Names that exclude a link if the value is false. */
const TRACKS = /^(?:data)?[a-z]*(?:click|link|auto)track(?:ing|ed|er)?$|^(?:data)?[a-z]{0,12}track(?:ing)?$/
const FALSE = /^(?:false|off|no|none|0|disabled?)$/
const CLASSES = /^(?:untracked|do-?not-?track|no-?track(?:ing)?|inf-track-no)$/

/** Whether the value of the attribute must be read. */
export function mayOptOut(name: string): boolean {
  return name === 'class' || name.includes('track') || name.includes('convertlink')
}

/** @param name name in lower case for which `mayOptOut` is true */
export function isNotTracked(name: string, value: string): boolean {
  const said = value.trim().toLowerCase()
  if (name === 'class') return said.split(/\s+/).some(one => CLASSES.test(one))
  const plain = name.replace(/[^a-z]/g, '')
  return EXCLUDES.test(plain) ? !FALSE.test(said) : TRACKS.test(plain) && FALSE.test(said)
}
