import { suite } from '../../kit/suite.ts'
import { eximReceiver } from './exim.ts'
import { describeReceiver } from './matrix.ts'

const test = suite('peers: Exim as the MX of the recipient')

describeReceiver(test, {
  start: eximReceiver,
  without: [],
  tls: true,
  smtpUtf8: true,
  eightBit: / M8S=8 /,
  unknownUser: /^550 Unrouteable address/,
  traces: [/ with esmtp /, / with esmtps /],
  complaint: /synchronization error|syntax|unrecognized command/,
})

test.run()
