import { suite } from '../../kit/suite.ts'
import { describeReceiver } from './matrix.ts'
import { postfixReceiver } from './postfix.ts'

const test = suite('peers: Postfix as the MX of the recipient')

describeReceiver(test, {
  start: postfixReceiver,
  without: [],
  tls: true,
  smtpUtf8: true,
  unknownUser: /^550 5\.1\.1 .*User unknown/,
  traces: [/ with ESMTP id /, / with ESMTPS id /],
  complaint: /smtpd\[\d+\]: (?:warning: (?!TLS library problem)|error|.*(?:improper|timeout after|too many))/,
})

test.run()
