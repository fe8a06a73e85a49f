/* part.h: what one rank hands to the merge, as bytes.
 *
 *   part      := "WENDPART" unsigned(version = 1)
 *                n (string key, string value)^n               facts for meta (rank 0's are used; others where they differ: hosts)
 *                unsigned(world rank) unsigned(world size)
 *                n sequence^n
 *   sequence  := unsigned(kind: 0 thread, 1 callback) signed(id: thread number or function word)
 *                table(M) block(grammar M) unsigned(polls after the last call)
 *                table(F) block(grammar F)                     F's streams and timing are empty
 *   table     := n shape^n   n terminal^n   stream^(number of shapes)   n timing^n (n: terminals or 0)
 *   shape     := n signed^n                                    words; word 0 has function * 2 + failed
 *   terminal  := unsigned(shape) n signed^n                    slots
 *   stream    := unsigned(entries) block(runs)                 runs: (unsigned(repeats) n signed^n)*, repeats >= 1
 *   timing    := for duration, then interval: unsigned(count) and, if count > 0, mean, min, max, m2 as 64-bit IEEE little-endian, seconds
 *
 * n is unsigned. All numbers are varints (buf.h) but timing's doubles. A part never crosses builds: function indices are this build's. */
#ifndef WEND_PART_H
#define WEND_PART_H
#define WEND_PART_MAGIC "WENDPART"
#define WEND_PART_VERSION 1
#endif
