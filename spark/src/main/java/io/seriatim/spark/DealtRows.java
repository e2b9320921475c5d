package io.seriatim.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaRDD;
import scala.Tuple2;

/** The encoded rows of each rank. */
final class DealtRows {
    private DealtRows() {
    }

    /**
     * Deals the rows of each partition to the ranks in turn, beginning with another rank for each partition. It depends
     * on the rows of the partitions only, not on the order in which Spark has read them.
     */
    static JavaRDD<byte[]> of(JavaRDD<byte[]> rows, int size) {
        return rows.mapPartitionsWithIndex((part, encoded) -> keyed(part, size, encoded), false)
                .mapToPair(pair -> pair).partitionBy(new HashPartitioner(size)).values()
                .mapPartitions(DealtRows::sorted);
    }

    private static Iterator<Tuple2<Integer, byte[]>> keyed(int part, int size, Iterator<byte[]> rows) {
        return new Iterator<>() {
            private int next = part % size;

            @Override
            public boolean hasNext() {
                return rows.hasNext();
            }

            @Override
            public Tuple2<Integer, byte[]> next() {
                int rank = next;
                next = (next + 1) % size;
                return new Tuple2<>(rank, rows.next());
            }
        };
    }

    private static Iterator<byte[]> sorted(Iterator<byte[]> rows) {
        List<byte[]> all = new ArrayList<>();
        rows.forEachRemaining(all::add);
        all.sort(Arrays::compareUnsigned);
        return all.iterator();
    }

    /**
     * The rows of a rank.
     *
     * @param rows
     *            how many there are
     * @param digest
     *            the hash of all of them
     */
    record Part(int rows, String digest) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /** Returns what each rank has, by rank. */
    static List<Part> parts(JavaRDD<byte[]> dealt) {
        return dealt.mapPartitions(DealtRows::part).collect();
    }

    private static Iterator<Part> part(Iterator<byte[]> rows) {
        List<byte[]> all = new ArrayList<>();
        rows.forEachRemaining(all::add);
        return List.of(new Part(all.size(), EncodedRows.digest(all))).iterator();
    }
}
