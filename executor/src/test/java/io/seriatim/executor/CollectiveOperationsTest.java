package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Paddle's collectives as operations of programs, on several ranks. */
@Timeout(ThreadRanks.LIMIT_SECONDS)
class CollectiveOperationsTest {
    @AfterEach
    void noProbes() {
        Probes.allOff();
    }

    private static Program program(OpDesc... ops) {
        Program program = new Program();
        for (OpDesc op : ops) {
            op.inputNames().forEach(name -> declare(program, name));
            op.outputNames().forEach(name -> declare(program, name));
            program.global().add(op);
        }
        return program;
    }

    private static void declare(Program program, String name) {
        if (program.global().var(name) == null) {
            program.global().put(VarDesc.of(name, VarType.dense(FLOAT32, -1)));
        }
    }

    private static OpDesc op(String type, String from, String to) {
        return OpDesc.of(type).in("X", from).out("Out", to).build();
    }

    private static double[] run(Program program, Communicator ranks, boolean isInterpreted, int threads,
            double... values) {
        Map<String, Tensor> fed = Map.of("x", Bits.floats(values));
        if (isInterpreted) {
            return Interpreter.of(Kernels.system()).communicator(ranks).run(program, fed, List.of("out")).values()
                    .iterator().next().toDoubleArray();
        }
        try (Executor executor = Executor.builder().communicator(ranks).threads(threads).build()) {
            return value(executor.run(program, fed, fetches("out")).get("out"));
        }
    }

    private static double[] value(Tensor tensor) {
        return tensor.toDoubleArray();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void sumsTravelAsTheWireTypeSays(int threads) throws Exception {
        OpDesc sum = op("c_allreduce_sum", "x", "out");
        List<double[]> sums = ThreadRanks.run(2, ranks -> {
            double[] own = {1.00390625, 1 + 0x1p-20 * (ranks.rank() + 1)};
            double[] rounded = run(program(sum.with("wire_dtype", 22)), ranks, threads == 0, threads, own);
            double[] exact = run(program(sum.with("wire_dtype", 5)), ranks, threads == 0, threads, own);
            assertArrayEquals(exact, run(program(sum), ranks, threads == 0, threads, own));
            return new double[]{rounded[0], rounded[1], exact[0], exact[1]};
        });
        for (double[] each : sums) {
            assertArrayEquals(new double[]{2, 2, 2.0078125, 2 + 3 * 0x1p-20}, each);
        }
        for (int wire : new int[]{4, 6}) {
            Throwable failure = assertThrows(ExecutionException.class, () -> ThreadRanks.run(1,
                    ranks -> run(program(sum.with("wire_dtype", wire)), ranks, threads == 0, threads, 1)));
            assertTrue(String.valueOf(failure.getMessage()).contains("only float32 can"), failure::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "2,1", "2,2", "3,1", "3,2", "2,0", "3,0"})
    void eachCollectiveDoesWhatItSays(int size, int threads) throws Exception {
        boolean isInterpreted = threads == 0;
        double sum = size * (size - 1) / 2.0;
        List<Boolean> done = ThreadRanks.run(size, ranks -> {
            int rank = ranks.rank();
            double[] own = new double[size];
            for (int i = 0; i < size; i++) {
                own[i] = 10 * i + rank;
            }
            double[] sums = new double[size];
            double[] all = new double[size * size];
            double[] last = new double[size];
            for (int i = 0; i < size; i++) {
                sums[i] = 10.0 * i * size + sum;
                last[i] = 10.0 * i + size - 1;
                for (int other = 0; other < size; other++) {
                    all[other * size + i] = 10.0 * i + other;
                }
            }
            for (String to : List.of("out", "x")) {
                // In place, too: then the result is read by another operation.
                OpDesc read = op("assign", to, "out");
                OpDesc[] more = to.equals("x") ? new OpDesc[]{read} : new OpDesc[0];
                assertArrayEquals(sums,
                        run(joined(op("c_allreduce_sum", "x", to), more), ranks, isInterpreted, threads, own));
                assertArrayEquals(last, run(joined(op("c_broadcast", "x", to).with("root", size - 1), more), ranks,
                        isInterpreted, threads, own));
                assertArrayEquals(own, run(joined(op("c_sync_comm_stream", "x", to), more), ranks,
                        isInterpreted, threads, own));
            }
            assertArrayEquals(all, run(program(op("c_allgather", "x", "out").with("nranks", size)), ranks,
                    isInterpreted, threads, own));
            assertArrayEquals(new double[]{sums[rank]},
                    run(program(op("c_reducescatter", "x", "out").with("nranks", size)), ranks, isInterpreted,
                            threads, own));
            return true;
        });
        assertEquals(size, done.size());
    }

    private static Program joined(OpDesc first, OpDesc... more) {
        OpDesc[] all = new OpDesc[more.length + 1];
        all[0] = first;
        System.arraycopy(more, 0, all, 1, more.length);
        return program(all);
    }

    @ParameterizedTest
    @ValueSource(strings = {"c_allreduce_sum", "c_broadcast", "c_allgather", "c_reducescatter"})
    void withoutACommunicatorTheyAreRefused(String type) {
        Program program = program(op(type, "x", "out").with("nranks", 1));
        Map<String, Tensor> fed = Map.of("x", Bits.floats(1));
        try (Executor executor = Executor.builder().build()) {
            for (Runnable run : List.<Runnable>of(() -> executor.run(program, fed, fetches("out")),
                    () -> executor.compile(program, feeds("x"), fetches("out")),
                    () -> Interpreter.of(Kernels.system()).run(program, fed, List.of("out")))) {
                String message = String.valueOf(assertThrows(IllegalArgumentException.class, run::run).getMessage());
                assertTrue(message.contains("'" + type + "'") && message.contains("no communicator")
                        && message.contains("Executor.builder().communicator"), message);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"c_allgather,nranks,3,2", "c_reducescatter,nranks,4,2", "c_allreduce_sum,nranks,3,2",
            "c_allreduce_sum,ring_id,1,ring 1", "c_broadcast,root,2,0 to 1", "c_broadcast,root,-1,0 to 1"})
    void otherRanksThanThoseOfTheCommunicatorAreRefused(String type, String attribute, int value, String part)
            throws Exception {
        OpDesc op = op(type, "x", "out").with(attribute, value);
        ThreadRanks.run(2, ranks -> {
            String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                    () -> run(program(op), ranks, false, 1, 1, 2)).getMessage());
            assertTrue(message.contains("'" + type + "'") && message.contains(part), message);
            return true;
        });
    }

    /** Also if priorities or the ends of other operations say otherwise, and if one rank has more threads. */
    @Test
    void allRanksCallInTheOrderOfTheProgram() throws Exception {
        Program program = program(op("c_allreduce_sum", "x", "a").with("scheduling_priority", 5),
                op("c_allgather", "x", "b").with("nranks", 3), op("c_broadcast", "a", "c"),
                op("c_reducescatter", "b", "d").with("nranks", 3).with("scheduling_priority", -3),
                op("c_allreduce_sum", "b", "e").with("scheduling_priority", -9), op("elementwise_add", "e", "out"));
        program.global().set(5, OpDesc.of("elementwise_add").in("X", "d").in("Y", "c").out("Out", "out").build());
        ThreadRanks ranks = new ThreadRanks(3);
        List<double[]> results = ranks.run(each -> run(program, each, false, 1 + each.rank(), each.rank(), 1));
        List<String> calls = List.of("all-reduce 8", "all-gather 8", "broadcast 8", "reduce-scatter 24",
                "all-reduce 24");
        assertEquals(List.of(calls, calls, calls), ranks.calls());
        results.forEach(each -> assertEquals(2, each.length));
    }

    /** A result that nothing reads is communicated all the same: another rank may read it. */
    @Test
    void collectivesWithoutReadersAndOfConstantsAreRun() throws Exception {
        Program program = program(op("c_allreduce_sum", "x", "unread"), op("assign", "x", "out"),
                op("c_allreduce_sum", "one", "ones"));
        program.global().add(0, OpDesc.of("fill_constant").out("Out", "one").attr("shape", new long[]{3})
                .attr("value", 1f).attr("dtype", 5).build());
        ThreadRanks ranks = new ThreadRanks(2);
        ranks.run(each -> {
            try (Executor executor = Executor.builder().communicator(each).build()) {
                Plan plan = executor.compile(program, feeds("x"), fetches("out", "ones"));
                for (int i = 0; i < 2; i++) {
                    assertArrayEquals(new double[]{2, 2, 2}, value(plan.run(Bits.floats(1)).get("ones")));
                }
            }
            return true;
        });
        List<String> calls = List.of("all-reduce 4", "all-reduce 12", "all-reduce 4", "all-reduce 12");
        assertEquals(List.of(calls, calls), ranks.calls());
    }

    /** Types are known before the run, so that what follows is not compiled during it. */
    @Test
    void thePlanGoesOnBehindACollective() throws Exception {
        Program program = program(op("c_allreduce_sum", "x", "s"), op("tanh", "s", "out"));
        RunRecorder recorder = new RunRecorder();
        ThreadRanks.run(1, ranks -> {
            try (Executor executor = Executor.builder().communicator(ranks).recorder(recorder).build()) {
                executor.run(program, Map.of("x", Bits.floats(1)), fetches("out"));
            }
            return true;
        });
        HashSet<String> names = new HashSet<>();
        recorder.trace().runs().forEach(run -> run.spans()
                .forEach(span -> names.add(run.plan().instructions().get(span.instruction()).type())));
        assertEquals(Set.of("c_allreduce_sum", "tanh"), names);
    }

    /** While one lane communicates, another one computes: here the sum ends only when the computation has run. */
    @Test
    void anotherThreadComputesDuringACollective() throws Exception {
        CountDownLatch computed = new CountDownLatch(1);
        Probes.on("beside", _ -> computed.countDown());
        Program program = program(op("c_allreduce_sum", "x", "s").with("scheduling_priority", -1),
                op("tanh", "x", "t"), Probes.of(Probes.CALL, "t", "beside"),
                OpDesc.of("elementwise_add").in("X", "s").in("Y", "t").out("Out", "out").build());
        Communicator waiting = new Waiting(computed, ThreadRanks.LIMIT_SECONDS / 2);
        assertArrayEquals(new double[]{Math.tanh(0) + 0}, run(program, waiting, false, 2, 0), 0);
        assertEquals(0, computed.getCount());
    }

    /** A rank alone, whose sums take until something else has happened. */
    private static final class Waiting implements Communicator {
        private final CountDownLatch other;
        private final long seconds;

        Waiting(CountDownLatch other, long seconds) {
            this.other = other;
            this.seconds = seconds;
        }

        @Override
        public int rank() {
            return 0;
        }

        @Override
        public int size() {
            return 1;
        }

        @Override
        public void allReduce(MemorySegment data, DType type) {
            try {
                if (!other.await(seconds, TimeUnit.SECONDS)) {
                    throw new CommunicationException("nothing else has run", 0, null);
                }
            } catch (InterruptedException e) {
                throw new CommunicationException("interrupted", 0, e);
            }
        }

        @Override
        public void reduceScatter(MemorySegment data, MemorySegment result,
                DType type) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void allGather(MemorySegment part, MemorySegment result) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void broadcast(MemorySegment data, int root) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void barrier() {
            throw new UnsupportedOperationException();
        }
    }

    /** The failure names the operation, and its cause the rank. */
    @Test
    void aFailureOfCommunicationIsTheCause() {
        CountDownLatch never = new CountDownLatch(1);
        ProgramFailedException failure = assertThrows(ProgramFailedException.class,
                () -> run(program(op("c_allreduce_sum", "x", "out")), new Waiting(never, 0), false, 1, 1));
        assertInstanceOf(CommunicationException.class, failure.getCause());
        assertTrue(String.valueOf(failure.getMessage()).contains("c_allreduce_sum"), failure.getMessage());
    }
}
