package io.seriatim.graph.util;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** The hash XXH64, after the specification at https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md. */
public final class XxHash64 {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long P1 = 0x9E3779B185EBCA87L;
    private static final long P2 = 0xC2B2AE3D27D4EB4FL;
    private static final long P3 = 0x165667B19E3779F9L;
    private static final long P4 = 0x85EBCA77C2B2AE63L;
    private static final long P5 = 0x27D4EB2F165667C5L;

    private XxHash64() {
    }

    /**
     * The hash of some bytes.
     *
     * @param bytes
     *            any number
     * @param seed
     *            another one gives another hash
     * @return all 64 bits
     */
    public static long of(byte[] bytes, long seed) {
        int at = 0;
        long hash;
        if (bytes.length >= 32) {
            long[] lanes = {seed + P1 + P2, seed + P2, seed, seed - P1};
            for (; at + 32 <= bytes.length; at += 32) {
                for (int i = 0; i < 4; i++) {
                    lanes[i] = round(lanes[i], (long) LONGS.get(bytes, at + 8 * i));
                }
            }
            hash = Long.rotateLeft(lanes[0], 1) + Long.rotateLeft(lanes[1], 7) + Long.rotateLeft(lanes[2], 12)
                    + Long.rotateLeft(lanes[3], 18);
            for (long lane : lanes) {
                hash = (hash ^ round(0, lane)) * P1 + P4;
            }
        } else {
            hash = seed + P5;
        }
        return finish(tail(hash + bytes.length, bytes, at));
    }

    private static long tail(long start, byte[] bytes, int from) {
        long hash = start;
        int at = from;
        for (; at + 8 <= bytes.length; at += 8) {
            hash = Long.rotateLeft(hash ^ round(0, (long) LONGS.get(bytes, at)), 27) * P1 + P4;
        }
        if (at + 4 <= bytes.length) {
            hash = Long.rotateLeft(hash ^ (((int) INTS.get(bytes, at)) & 0xFFFFFFFFL) * P1, 23) * P2 + P3;
            at += 4;
        }
        for (; at < bytes.length; at++) {
            hash = Long.rotateLeft(hash ^ (bytes[at] & 0xFF) * P5, 11) * P1;
        }
        return hash;
    }

    private static long round(long lane, long input) {
        return Long.rotateLeft(lane + input * P2, 31) * P1;
    }

    private static long finish(long value) {
        long hash = (value ^ (value >>> 33)) * P2;
        hash = (hash ^ (hash >>> 29)) * P3;
        return hash ^ (hash >>> 32);
    }
}
