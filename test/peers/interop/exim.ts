/** Exim as a receiver, in a root of its own. */
import { openDebianRoot } from '../../kit/debian-root.ts'
import { freePort } from '../../kit/free-port.ts'
import { openMaildirs } from '../../kit/maildir.ts'
import { until } from '../../kit/until.ts'
import { certificateFile, type Listener, type Receiver, type ReceiverOptions } from './receiver.ts'

const PROGRAM = '/usr/sbin/exim4'
const USER = 'Debian-exim'
/** Nothing later than 1.1, in GnuTLS's words. */
const OLD_TLS = 'NORMAL:-VERS-ALL:+VERS-TLS1.0:+VERS-TLS1.1'

export async function eximReceiver(options: ReceiverOptions): Promise<Receiver> {
  const root = openDebianRoot({ package: 'exim4-daemon-light', programs: [PROGRAM], users: [USER] })
  const port = await freePort()
  for (const folder of ['mail', 'var/spool/exim4', 'var/log/exim4']) root.folder(folder, { user: USER })
  root.write('etc/mailboxes', options.mailboxes.map(name => `${name}: ${name}\n`).join(''))
  root.write('etc/exim4/exim4.conf', configuration(port, options))
  const version = /^Exim version \S+/m.exec(root.run(PROGRAM, '-bV'))![0]
  const exim = root.start(PROGRAM, '-bdf', '-q1h')
  const log = () => exim.log() + root.read('var/log/exim4/mainlog')
  await until(() => {
    if (/listening for SMTP/.test(log())) return true
    if (exim.hasEnded()) throw new Error(`Exim does not start: ${log()}`)
    return false
  })
  return {
    port,
    version,
    ...openMaildirs(root.outside('mail')),
    log,
    async close() {
      await exim.end()
      root.close()
    },
  }
}

/**
 * Returns the configuration of Exim. Options that differ between listeners depend on the address that the
 * client connected to.
 */
function configuration(port: number, { listeners, domains }: ReceiverOptions): string {
  const byListener = (choose: (listener: Listener) => string, otherwise: string) =>
    listeners.reduceRight(
      (rest, listener) =>
        choose(listener) === otherwise
          ? rest
          : `\${if eq{$received_ip_address}{${listener.host}}{${choose(listener)}}{${rest}}}`,
      otherwise,
    )
  const offered = (isOffered: (listener: Listener) => boolean) =>
    byListener(listener => (isOffered(listener) ? '*' : ''), '*')
  const tlsOf = ({ certificate }: Listener) => (certificate === 'tls-1.1' ? OLD_TLS : 'NORMAL')
  return `
primary_hostname = mx.there.test
domainlist here = ${domains.join(' : ')}
local_interfaces = ${listeners.map(({ host }) => host).join(' : ')}
daemon_smtp_ports = ${port}
log_selector = +8bitmime
log_file_path = /var/log/exim4/%slog
tls_advertise_hosts = ${offered(({ certificate }) => certificate !== null)}
tls_certificate = /certs/${byListener(each => certificateFile(each), 'good.pem')}
tls_privatekey = /certs/key.pem
tls_require_ciphers = ${byListener(tlsOf, 'NORMAL')}
message_size_limit = ${byListener(({ maxBytes }) => `${maxBytes}`, '3000000')}
pipelining_advertise_hosts = ${offered(({ pipelining }) => pipelining)}
chunking_advertise_hosts = ${offered(({ chunking }) => chunking)}
smtputf8_advertise_hosts = *
dsn_advertise_hosts = *
acl_smtp_rcpt = rcpt
acl_smtp_data = accept
host_lookup =
rfc1413_hosts =
keep_environment =
smtp_accept_queue_per_connection = 0
smtp_accept_max = 100

begin acl
rcpt:
  require domains = +here
          verify = recipient
  accept

begin routers
mailboxes:
  driver = accept
  local_parts = lsearch;/etc/mailboxes
  transport = maildir

begin transports
maildir:
  driver = appendfile
  directory = /mail/$local_part_data
  maildir_format
  user = ${USER}
  return_path_add

begin retry
* * F,1h,1m
`
}
