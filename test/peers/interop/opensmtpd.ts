/**
 * OpenSMTPD as a receiver, in a root of its own. It knows neither PIPELINING nor CHUNKING, and has one limit
 * for all. That of Debian 12 offers STARTTLS and breaks off every handshake, since it does not go with
 * OpenSSL 3.
 */
import { openDebianRoot } from '../../kit/debian-root.ts'
import { freePort } from '../../kit/free-port.ts'
import { listens } from '../../kit/listens.ts'
import { openMaildirs } from '../../kit/maildir.ts'
import { until } from '../../kit/until.ts'
import { certificateFile, type Listener, type Receiver, type ReceiverOptions } from './receiver.ts'

const PROGRAM = '/usr/sbin/smtpd'
const DELIVERY = ['/usr/libexec/opensmtpd/mail.maildir', '/bin/sh']
const MAIL_USER = 'vmail'

export async function opensmtpdReceiver(options: ReceiverOptions): Promise<Receiver> {
  const root = openDebianRoot({
    package: 'opensmtpd',
    programs: [PROGRAM, ...DELIVERY],
    users: ['opensmtpd', 'opensmtpq', MAIL_USER],
  })
  const port = await freePort()
  root.folder('mail', { user: MAIL_USER })
  root.folder('var/lib/opensmtpd/empty')
  root.folder('var/spool/smtpd', { mode: 0o711 })
  root.write('etc/smtpd.conf', configuration(port, options))
  root.run(PROGRAM, '-n')
  const smtpd = root.start(PROGRAM, '-d')
  await until(async () => {
    if (await listens(options.listeners.at(-1)!.host, port)) return true
    if (smtpd.hasEnded()) throw new Error(`OpenSMTPD does not start: ${smtpd.log()}`)
    return false
  })
  return {
    port,
    version: /OpenSMTPD \S+/.exec(smtpd.log())![0],
    ...openMaildirs(root.outside('mail')),
    log: smtpd.log,
    async close() {
      await smtpd.end()
      root.close()
    },
  }
}

function configuration(port: number, { listeners, domains, mailboxes }: ReceiverOptions): string {
  const listen = ({ name, host, certificate }: Listener) =>
    `listen on ${host} port ${port} ${certificate === null ? '' : `tls pki ${certificate} `}hostname ${name}.there.test`
  const secured = listeners.filter(({ certificate }) => certificate !== null)
  return [
    ...secured.map(each => `pki ${each.certificate} cert "/certs/${certificateFile(each)}"`),
    ...secured.map(({ certificate }) => `pki ${certificate} key "/certs/key.pem"`),
    `smtp max-message-size ${listeners[0]!.maxBytes}`,
    `table recipients { ${domains.flatMap(at => mailboxes.map(name => `"${name}@${at}"`)).join(', ')} }`,
    `table mailboxes { ${mailboxes.map(name => `"${name}" = ${MAIL_USER}`).join(', ')} }`,
    ...listeners.map(listen),
    'action deliver maildir "/mail/%{rcpt.user}" virtual <mailboxes>',
    'match from any for rcpt-to <recipients> action deliver',
    '',
  ].join('\n')
}
