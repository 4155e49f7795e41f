/**
 * What we ask of a peer about later reports (RFC 3461 §4): the headers alone, under a name by which we find
 * the email.
 */

/** Characters that stand for themselves in an xtext (RFC 3461 §4). */
const NOT_XCHAR = /[^!-*,-<>-~]/g
const NOT_ASCII = /[^\x00-\x7f]/

/** Parameters of MAIL. */
export function dsnOfMail(envelopeId: string): string {
  return ` RET=HDRS ENVID=${xtext(envelopeId)}`
}

/**
 * Parameters of RCPT. An address beyond ASCII has another form of its own, which few peers know: it goes
 * without.
 */
export function dsnOfRecipient(address: string): string {
  const original = NOT_ASCII.test(address) ? '' : ` ORCPT=rfc822;${xtext(address)}`
  return ` NOTIFY=FAILURE,DELAY${original}`
}

function xtext(text: string): string {
  return text.replace(
    NOT_XCHAR,
    octet => `+${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}
