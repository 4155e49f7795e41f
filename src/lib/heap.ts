/** Binary heap (priority queue) with the smallest item first. */

interface Heap<T> {
  readonly size: number
  push(item: T): void
  peek(): T | undefined
  pop(): T | undefined
}

/**
 * @param rank returns the rank of an item; smaller ranks come first; the rank must not change while the item
 * is in the heap
 */
export function createHeap<T>(rank: (item: T) => number): Heap<T> {
  const items: { item: T; rank: number }[] = []

  const swap = (a: number, b: number) => {
    const moved = items[a]!
    items[a] = items[b]!
    items[b] = moved
  }
  const rise = (from: number) => {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1
      if (items[parent]!.rank <= items[at]!.rank) return
      swap(at, parent)
      at = parent
    }
  }
  const sink = (from: number) => {
    for (let at = from; ; ) {
      const left = 2 * at + 1
      if (left >= items.length) return
      const right = left + 1
      const child = right < items.length && items[right]!.rank < items[left]!.rank ? right : left
      if (items[at]!.rank <= items[child]!.rank) return
      swap(at, child)
      at = child
    }
  }

  return {
    get size() {
      return items.length
    },
    push(item) {
      items.push({ item, rank: rank(item) })
      rise(items.length - 1)
    },
    peek: () => items[0]?.item,
    pop() {
      const first = items[0]
      const last = items.pop()
      if (first === undefined || items.length === 0) return first?.item
      items[0] = last!
      sink(0)
      return first.item
    },
  }
}
