import { startFakeMx } from '../../kit/fake-mx.ts'
import { startPostfix } from '../../kit/postfix.ts'
import { suite } from '../../kit/suite.ts'
import { describeReporter, REPORTER_HOST, RETURN_DOMAIN } from './scene.ts'

const test = suite('peers: reports of Postfix')
const INNER_HOST = '127.0.0.7'

/** A gateway: the host behind it says no. */
describeReporter(test, async backPort => {
  const inner = await startFakeMx({ host: INNER_HOST })
  const names = { gone: 'perm-550-511', full: 'perm-552-522', late: 'defer-451' }
  const postfix = await startPostfix({
    host: REPORTER_HOST,
    domain: 'there.example',
    mailboxes: Object.values(names),
    settings: [
      `transport_maps = inline:{ {there.example=smtp:[${INNER_HOST}]:${inner.port}}, {${RETURN_DOMAIN}=smtp:[127.0.0.1]:${backPort}} }`,
      'delay_warning_time = 1s',
      'queue_run_delay = 1s',
      'minimal_backoff_time = 1s',
      'maximal_backoff_time = 1s',
    ],
  })
  return {
    port: postfix.port,
    names,
    log: postfix.log,
    async close() {
      await postfix.close()
      await inner.close()
    },
  }
})

test.run()
