/** Types of column values. */

export type Flag = 0 | 1
export type Json = string
