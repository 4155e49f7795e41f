import { openDebianRoot } from '../../kit/debian-root.ts'
import { freePort } from '../../kit/free-port.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { describeReporter, REPORTER_HOST, RETURN_DOMAIN } from './scene.ts'

const test = suite('peers: reports of Exim')
const PROGRAM = '/usr/sbin/exim4'
const USER = 'Debian-exim'

/** Exim accepts every recipient and fails on delivery: unknown user, mailbox over quota, host unreachable. */
describeReporter(test, async backPort => {
  const root = openDebianRoot({ package: 'exim4-daemon-light', programs: [PROGRAM], users: [USER] })
  const port = await freePort()
  const closed = await freePort()
  for (const folder of ['mail', 'var/spool/exim4', 'var/log/exim4']) root.folder(folder, { user: USER })
  root.write('etc/exim4/exim4.conf', configuration(port, backPort, closed))
  const exim = root.start(PROGRAM, '-bdf', '-q1s')
  const log = () => exim.log() + root.read('var/log/exim4/mainlog')
  await until(() => {
    if (/listening for SMTP/.test(log())) return true
    if (exim.hasEnded()) throw new Error(`Exim does not start: ${log()}`)
    return false
  })
  return {
    port,
    names: { gone: 'gone', full: 'full', late: 'late' },
    log,
    async close() {
      await exim.end()
      root.close()
    },
  }
})

function configuration(port: number, backPort: number, closed: number): string {
  return `
primary_hostname = mx.there.example
domainlist here = there.example
local_interfaces = ${REPORTER_HOST}
daemon_smtp_ports = ${port}
log_file_path = /var/log/exim4/%slog
acl_smtp_rcpt = rcpt
acl_smtp_data = accept
host_lookup =
rfc1413_hosts =
keep_environment =
delay_warning = 1s
ignore_bounce_errors_after = 1h

begin acl
rcpt:
  require domains = +here
  accept

begin routers
back:
  driver = manualroute
  domains = ${RETURN_DOMAIN}
  route_list = * 127.0.0.1
  self = send
  transport = back
late:
  driver = manualroute
  local_parts = late
  route_list = * 127.0.0.1
  self = send
  transport = closed
full:
  driver = accept
  local_parts = full
  transport = mailbox

begin transports
back:
  driver = smtp
  port = ${backPort}
  allow_localhost
  hosts_avoid_tls = *
closed:
  driver = smtp
  port = ${closed}
  allow_localhost
mailbox:
  driver = appendfile
  file = /mail/$local_part_data
  quota = 1
  user = ${USER}

begin retry
* quota
* * F,1h,1s
`
}

test.run()
