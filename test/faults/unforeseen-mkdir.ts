/**
 * Has the program fail where it creates its data folder, in a way that no advice exists for; loaded before
 * it.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

fs.mkdirSync = (() => {
  throw new TypeError('unforeseen')
}) as typeof fs.mkdirSync
syncBuiltinESMExports()
