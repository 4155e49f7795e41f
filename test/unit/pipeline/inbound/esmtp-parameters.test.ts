import * as assert from 'uvu/assert'
import {
  type OptionalExtension,
  unofferedParameter,
} from '../../../../src/pipeline/inbound/esmtp-parameters.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/esmtp-parameters')

for (const [command, names, extensions, expected] of [
  ['mail from', [], [], undefined],
  ['mail from', ['SIZE', 'BODY', 'SMTPUTF8'], [], undefined],
  ['mail from', ['SIZE', 'RET'], [], 'RET'],
  ['mail from', ['ENVID'], ['AUTH'], 'ENVID'],
  ['mail from', ['RET', 'ENVID', 'SIZE'], ['DSN'], undefined],
  ['mail from', ['AUTH'], ['DSN'], 'AUTH'],
  ['mail from', ['AUTH', 'RET'], ['DSN', 'AUTH'], undefined],
  ['mail from', ['NOTIFY'], ['DSN', 'AUTH'], 'NOTIFY'],
  ['mail from', ['SIZE', 'HOLDFOR', 'FOO'], ['DSN', 'AUTH'], 'HOLDFOR'],
  ['mail from', ['constructor'], [], 'constructor'],
  ['mail from', ['__PROTO__'], ['DSN'], '__PROTO__'],
  ['rcpt to', [], [], undefined],
  ['rcpt to', ['NOTIFY', 'ORCPT'], ['DSN'], undefined],
  ['rcpt to', ['NOTIFY'], ['AUTH'], 'NOTIFY'],
  ['rcpt to', ['SIZE'], ['DSN', 'AUTH'], 'SIZE'],
  ['rcpt to', ['RRVS'], ['DSN'], 'RRVS'],
] as const)
  test(`${command} ${names} with ${(extensions as readonly OptionalExtension[]).join(', ') || 'no optional extension'}: ${expected ?? 'all offered'}`, () => {
    assert.is(unofferedParameter(command, names, extensions), expected)
  })

test.run()
