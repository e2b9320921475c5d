package io.seriatim.executor;

import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.tensor.BFloat16;
import io.seriatim.tensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Ranks that are threads of this process, and exchange memory without a transport. Sums are in the order of ranks. */
final class ThreadRanks {
    static final long LIMIT_SECONDS = 60;

    private final int size;
    private final CyclicBarrier meeting;
    private final MemorySegment[] given;
    /** What each rank has called, in order. */
    private final List<List<String>> calls = new ArrayList<>();

    ThreadRanks(int size) {
        this.size = size;
        meeting = new CyclicBarrier(size);
        given = new MemorySegment[size];
        for (int i = 0; i < size; i++) {
            calls.add(Collections.synchronizedList(new ArrayList<>()));
        }
    }

    /** What a rank does. */
    interface Body<T> {
        T run(Communicator communicator) throws Exception;
    }

    /** Runs all ranks, and returns their results in order. */
    static <T> List<T> run(int size, Body<T> body) throws Exception {
        return new ThreadRanks(size).run(body);
    }

    <T> List<T> run(Body<T> body) throws Exception {
        List<Callable<T>> all = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            Communicator rank = new Rank(i);
            all.add(() -> body.run(rank));
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(size)) {
            List<T> results = new ArrayList<>();
            for (Future<T> each : threads.invokeAll(all, LIMIT_SECONDS, TimeUnit.SECONDS)) {
                results.add(each.get());
            }
            return results;
        }
    }

    List<List<String>> calls() {
        return calls;
    }

    private final class Rank implements Communicator {
        private final int rank;

        Rank(int rank) {
            this.rank = rank;
        }

        @Override
        public int rank() {
            return rank;
        }

        @Override
        public int size() {
            return size;
        }

        /** Shows memory to the other ranks while an action runs. */
        private void meet(String call, MemorySegment mine, Runnable action) {
            calls.get(rank).add(call);
            MemorySegment copy = MemorySegment.ofArray(mine.toArray(ValueLayout.JAVA_BYTE));
            try {
                given[rank] = copy;
                meeting.await(LIMIT_SECONDS, TimeUnit.SECONDS);
                action.run();
                meeting.await(LIMIT_SECONDS, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new CommunicationException("a rank did not come to " + call, CommunicationException.NO_RANK, e);
            }
        }

        @Override
        public void allReduce(MemorySegment data, DType type) {
            meet("all-reduce " + data.byteSize(), data, () -> sum(data, 0, type));
        }

        @Override
        public void allReduce(MemorySegment data, DType type, DType wire) {
            if (wire == type) {
                allReduce(data, type);
                return;
            }
            if (type != DType.FLOAT32 || wire != DType.BFLOAT16) {
                throw new IllegalArgumentException(type + " does not travel as " + wire + ": only float32 can, as "
                        + DType.BFLOAT16);
            }
            round(data);
            meet("all-reduce " + data.byteSize() + " as " + wire, data, () -> sum(data, 0, type));
            round(data);
        }

        private static void round(MemorySegment data) {
            for (long at = 0; at < data.byteSize(); at += Float.BYTES) {
                data.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at, BFloat16.toFloat(
                        BFloat16.fromFloat(data.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at))));
            }
        }

        private void sum(MemorySegment to, long from, DType type) {
            for (long at = 0; at < to.byteSize(); at += type.bytes()) {
                switch (type) {
                    case FLOAT32 -> {
                        float sum = 0;
                        for (MemorySegment each : given) {
                            sum += each.get(ValueLayout.JAVA_FLOAT_UNALIGNED, from + at);
                        }
                        to.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at, sum);
                    }
                    case INT64 -> {
                        long sum = 0;
                        for (MemorySegment each : given) {
                            sum += each.get(ValueLayout.JAVA_LONG_UNALIGNED, from + at);
                        }
                        to.set(ValueLayout.JAVA_LONG_UNALIGNED, at, sum);
                    }
                    case INT32 -> {
                        int sum = 0;
                        for (MemorySegment each : given) {
                            sum += each.get(ValueLayout.JAVA_INT_UNALIGNED, from + at);
                        }
                        to.set(ValueLayout.JAVA_INT_UNALIGNED, at, sum);
                    }
                    default -> throw new IllegalArgumentException(type + " is not summed by these ranks");
                }
            }
        }

        @Override
        public void reduceScatter(MemorySegment data, MemorySegment result, DType type) {
            meet("reduce-scatter " + data.byteSize(), data, () -> sum(result, rank * result.byteSize(), type));
        }

        @Override
        public void allGather(MemorySegment part, MemorySegment result) {
            meet("all-gather " + part.byteSize(), part, () -> {
                for (int i = 0; i < size; i++) {
                    MemorySegment.copy(given[i], 0, result, i * part.byteSize(), part.byteSize());
                }
            });
        }

        @Override
        public void broadcast(MemorySegment data, int root) {
            meet("broadcast " + data.byteSize(), data, () -> data.copyFrom(given[root]));
        }

        @Override
        public void barrier() {
            meet("barrier", MemorySegment.ofArray(new byte[0]), () -> {
            });
        }
    }
}
