package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs compute the same bits as the interpreter, with one thread and with several, and leave the same
 * parameters. Some runs are fed parameters.
 */
class RandomProgramsTest {
    private static Network network(long seed) {
        Random random = new Random(seed);
        return Network.define(seed + 1, g -> {
            List<Value> values = new ArrayList<>();
            values.add(g.data("x", DType.FLOAT32, 4, 6));
            for (int i = 0; i < 25; i++) {
                Value a = values.get(random.nextInt(values.size()));
                Value b = values.get(random.nextInt(values.size()));
                values.add(switch (random.nextInt(9)) {
                    case 0 -> a.plus(b);
                    case 1 -> a.times(b).tanh();
                    case 2 -> a.relu();
                    case 3 -> a.minus(b.times(0.5));
                    case 4 -> g.linear(a, 6);
                    case 5 -> a.softmax(-1);
                    case 6 -> g.concat(1, a.slice(1, 0, 3), b.slice(1, 3, 6));
                    case 7 -> a.transpose(1, 0).flip(0).transpose(1, 0);
                    default -> a.max(b);
                });
            }
            Value loss = g.addAll(values.subList(values.size() - 4, values.size()).toArray(Value[]::new)).mean();
            g.minimize(loss.plus(g.linear(values.getFirst(), 1).mean()), Sgd.of(0.1));
            return Outputs.of("loss", loss, "last", values.getLast());
        });
    }

    /** x, and with a source of random numbers new values of some parameters. */
    private static Map<String, Tensor> fed(Network network, Tensor x, @Nullable Random random) {
        Map<String, Tensor> fed = new LinkedHashMap<>(Map.of("x", x));
        for (VarDesc each : network.main().persistables()) {
            if (random != null && random.nextBoolean()) {
                long[] shape = each.tensor().shape();
                long count = LongStream.of(shape).reduce(1, Math::multiplyExact);
                fed.put(each.name(), Tensor.of(DType.FLOAT32, random.doubles(count, -0.5, 0.5).toArray(), shape));
            }
        }
        return fed;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void equalTheInterpreter(int threads) {
        for (long seed = 0; seed < 25; seed++) {
            Network network = network(seed);
            String loss = network.outputs().get("loss").name();
            String last = network.outputs().get("last").name();
            Random random = new Random(seed);
            Tensor x = Tensor.of(DType.FLOAT32, random.doubles(24, -1, 1).toArray(), 4, 6);
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            try (Executor executor = Executor.builder().threads(threads).eager().build()) {
                executor.run(network.startup());
                Plan plan = executor.compile(network.main(), Executor.feeds("x"), Executor.fetches(loss, last));
                for (int i = 0; i < 3; i++) {
                    Map<String, Tensor> fed = fed(network, x, i == 1 ? random : null);
                    Map<String, Tensor> expected = interpreter.run(network.main(), fed, List.of(loss, last));
                    Results found = i == 1
                            ? executor.run(network.main(), fed, Executor.fetches(loss, last))
                            : plan.run(x);
                    String where = "seed " + seed + ", step " + i;
                    assertArrayEquals(Objects.requireNonNull(expected.get(loss)).toFloatArray(),
                            found.get(loss).toFloatArray(), where);
                    assertArrayEquals(Objects.requireNonNull(expected.get(last)).toFloatArray(),
                            found.get(last).toFloatArray(), where);
                    for (VarDesc each : network.main().persistables()) {
                        assertArrayEquals(interpreter.get(each.name()).toFloatArray(),
                                executor.scope().get(each.name()).toFloatArray(), where + ", " + each.name());
                    }
                }
            }
        }
    }
}
