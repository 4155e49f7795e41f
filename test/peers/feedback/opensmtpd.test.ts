import { openDebianRoot } from '../../kit/debian-root.ts'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { freePort } from '../../kit/free-port.ts'
import { listens } from '../../kit/listens.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { describeReporter, REPORTER_HOST, RETURN_DOMAIN } from './scene.ts'

const test = suite('peers: reports of OpenSMTPD')
const PROGRAM = '/usr/sbin/smtpd'
const INNER_HOST = '127.0.0.7'

/** A gateway: the host behind it says no. */
describeReporter(test, async backPort => {
  const inner = await startFakeMx({ host: INNER_HOST })
  const names = { gone: 'perm-550-511', full: 'perm-552-522', late: 'defer-451' }
  const root = openDebianRoot({
    package: 'opensmtpd',
    programs: [PROGRAM, '/bin/sh'],
    users: ['opensmtpd', 'opensmtpq'],
  })
  const port = await freePort()
  root.folder('var/lib/opensmtpd/empty')
  root.folder('var/spool/smtpd', { mode: 0o711 })
  root.write(
    'etc/smtpd.conf',
    [
      'bounce warn-interval 1s',
      `listen on ${REPORTER_HOST} port ${port} hostname mx.there.example`,
      `action inner relay host smtp://${INNER_HOST}:${inner.port}`,
      `action back relay host smtp://127.0.0.1:${backPort}`,
      `match from any for domain "${RETURN_DOMAIN}" action back`,
      'match from any for domain "there.example" action inner',
      '',
    ].join('\n'),
  )
  root.run(PROGRAM, '-n')
  const smtpd = root.start(PROGRAM, '-d')
  await until(async () => {
    if (await listens(REPORTER_HOST, port)) return true
    if (smtpd.hasEnded()) throw new Error(`OpenSMTPD does not start: ${smtpd.log()}`)
    return false
  })
  return {
    port,
    names,
    log: smtpd.log,
    async close() {
      await smtpd.end()
      root.close()
      await inner.close()
    },
  }
})

test.run()
