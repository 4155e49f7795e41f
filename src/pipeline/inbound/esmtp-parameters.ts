/**
 * The parameters of MAIL FROM and RCPT TO that a listener takes: those of the extensions that it offers in
 * the reply to EHLO, and no others (RFC 5321 §4.1.1.11). Called by `smtp-connection.ts`, for every mail
 * listener.
 */

/** Extensions that only some listeners offer. SIZE, 8BITMIME and SMTPUTF8 are offered by all. */
export type OptionalExtension = 'DSN' | 'AUTH'

export type AddressCommand = 'mail from' | 'rcpt to'

/** RFC 1870, RFC 6152, RFC 6531. */
const EVERYWHERE: Record<AddressCommand, string[]> = {
  'mail from': ['SIZE', 'BODY', 'SMTPUTF8'],
  'rcpt to': [],
}
/** RFC 3461 §4; RFC 4954 §5, where AUTH names the author of the message. */
const OF_EXTENSION: Record<OptionalExtension, Record<AddressCommand, string[]>> = {
  DSN: { 'mail from': ['RET', 'ENVID'], 'rcpt to': ['NOTIFY', 'ORCPT'] },
  AUTH: { 'mail from': ['AUTH'], 'rcpt to': [] },
}

/**
 * @param names of the given parameters, in upper case
 * @returns the first parameter that is not offered with the command
 */
export function unofferedParameter(
  command: AddressCommand,
  names: readonly string[],
  extensions: readonly OptionalExtension[],
): string | undefined {
  const offered = extensions.flatMap(extension => OF_EXTENSION[extension][command])
  return names.find(name => !EVERYWHERE[command].includes(name) && !offered.includes(name))
}
