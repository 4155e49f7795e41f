import * as assert from 'uvu/assert'
import { createWindow } from '../../../../src/pipeline/delivery/shaping/window.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('window')

const times = (count: number, act: () => void) => {
  for (let i = 0; i < count; i++) act()
}

test('the initial size is five', () => {
  assert.is(createWindow(20).size, 5)
})

test('each success widens it by one, up to the connection limit', () => {
  const window = createWindow(20)
  times(6, window.grow)
  assert.is(window.size, 11)
  times(100, window.grow)
  assert.is(window.size, 20)
})

test('after congestion it grows by one per window of successes', () => {
  const window = createWindow(20)
  times(15, window.grow)
  times(2, window.shrink)
  times(6, window.grow)
  assert.is(window.size, 6)
  times(7, window.grow)
  assert.is(window.size, 7)
  times(1_000, window.grow)
  assert.is(window.size, 20)
})

test('a destination with a low limit starts at that limit', () => {
  const window = createWindow(2)
  times(9, window.grow)
  assert.is(window.size, 2)
})

test('congestion halves it, down to one', () => {
  const window = createWindow(20)
  times(1_000, window.grow)
  const sizes = [1, 2, 3, 4, 5, 6].map(() => {
    window.shrink()
    return window.size
  })
  assert.equal(sizes, [10, 5, 2, 1, 1, 1])
})

test('a window of one grows again', () => {
  const window = createWindow(20)
  times(9, window.shrink)
  window.grow()
  assert.is(window.size, 2)
})

test('after an outage it grows by one per success until the next congestion', () => {
  const window = createWindow(20)
  times(9, window.shrink)
  window.restart()
  assert.is(window.size, 1)
  times(8, window.grow)
  assert.is(window.size, 9)
  window.shrink()
  times(4, window.grow)
  assert.is(window.size, 5)
})

test.run()
