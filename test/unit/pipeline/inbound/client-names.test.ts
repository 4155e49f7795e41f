import * as assert from 'uvu/assert'
import { openInboundListener } from '../../../kit/inbound-listener.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/client names')

test('port 25: a client name with blanks, which only devices on the relay may give, is refused', async t => {
  const { greeted } = await openInboundListener(t)
  const client = await greeted()
  for (const verb of ['EHLO', 'HELO']) {
    assert.match(await client.say(`${verb} my scanner`), /^501 /, verb)
    assert.match(await client.say(`${verb} client.example`), /^250[ -]/, verb)
  }
})

test.run()
