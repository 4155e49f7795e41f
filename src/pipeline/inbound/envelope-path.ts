/**
 * Reads the paths of MAIL FROM and RCPT TO as text (RFC 5321 §4.1.2): nobody but its own domain can tell
 * which local parts exist there, and a refusal would lose the mail. The callers decide which addresses they
 * take. Called by `smtp-connection.ts` in place of the parser of smtp-server, which refuses quoted local
 * parts, unusual dots and underscores in the domain.
 */
import { unseenIn } from '../../protocols/smtp/unseen-characters.ts'

const COMMAND = /^(?:mail from|rcpt to)\s*:\s*/i
/** The path up to the first `>` outside a quoted local part, or outside quotes that are never closed. */
const PATH = /^<((?:"(?:[^"\\]|\\.)*"|[^\s"<>])*|[^\s<>]*)>(?=\s|$)/
/** What programs of devices write instead of a path: the address without its brackets. */
const BARE_PATH = /^((?:"(?:[^"\\]|\\.)*"|[^\s"<>])+)(?=\s[^<>]*$|$)/
/** A source route is ignored (RFC 5321 appendix C). */
const SOURCE_ROUTE = /^@[^\s,:@]+(?:,@[^\s,:@]+)*:/
const DOMAIN = /^(?:(?:[\w-]|[^\x00-\x7f])+(?:\.(?:[\w-]|[^\x00-\x7f])+)*|\[[^\s[\]\\]+\])$/
/** The local part that needs no domain, as a recipient (RFC 5321 §4.1.1.3). */
const POSTMASTER = /^postmaster$/i
const LOCAL_NAME = /^[^\s"(),:;<>@[\]\\]{1,64}$/
const CONTROL = /[\x00-\x1f\x7f-\x9f]/
/** RFC 5321 §4.5.3.1.3, without the angle brackets. */
const PATH_OCTETS_MAX = 254

/** Whether commands may have the forms that devices write which cannot be changed. */
export type CommandForms = 'strict' | 'of-devices'

/**
 * @param forms `of-devices` also takes addresses without brackets, and senders without a domain
 * @returns the address as written, empty for the null sender, and the text behind the path; undefined for a
 * path without brackets or domain, with control or invisible characters, or longer than 254 octets. The root
 * dot of a domain is left out.
 */
export function readPath(
  command: string,
  forms: CommandForms = 'strict',
): { address: string; rest: string } | undefined {
  const start = COMMAND.exec(command)?.[0].length
  if (start === undefined) return undefined
  const text = command.slice(start)
  const path = PATH.exec(text) ?? (forms === 'of-devices' ? BARE_PATH.exec(text) : null)
  if (!path) return undefined
  const rest = text.slice(path[0].length)
  const named = path[1]!.replace(SOURCE_ROUTE, '')
  const address = named.endsWith('.') && named.includes('@') ? named.slice(0, -1) : named
  if (Buffer.byteLength(address) > PATH_OCTETS_MAX || CONTROL.test(address)) return undefined
  if (unseenIn(address) !== undefined) return undefined
  const at = address.lastIndexOf('@')
  const isWhole = at > 0 && DOMAIN.test(address.slice(at + 1))
  return isWhole || isWithoutDomain(address, command, forms) ? { address, rest } : undefined
}

function isWithoutDomain(address: string, command: string, forms: CommandForms): boolean {
  const isSender = /^mail/i.test(command)
  if (!isSender) return POSTMASTER.test(address)
  return address === '' || (forms === 'of-devices' && LOCAL_NAME.test(address))
}
