import { suite } from '../../kit/suite.ts'
import { describeReceiver } from './matrix.ts'
import { opensmtpdReceiver } from './opensmtpd.ts'

const test = suite('peers: OpenSMTPD as the MX of the recipient')

describeReceiver(test, {
  start: opensmtpdReceiver,
  without: ['self-signed', 'expired', 'wrong-name', 'old', 'small'],
  tls: false,
  smtpUtf8: false,
  unknownUser: /^550 Invalid recipient/,
  traces: [/ with ESMTP id /, / with ESMTPS id /],
  complaint: /failed-command command="(?!RCPT TO:<missing@)/,
})

test.run()
