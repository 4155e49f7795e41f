/** What undoes an encoding of a part piece by piece. */
export interface Decoder {
  /** @returns what is whole by now */
  add(piece: Uint8Array): Buffer
  end(): Buffer
}
