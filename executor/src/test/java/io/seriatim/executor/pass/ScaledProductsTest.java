package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanCheck;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A factor of a product's operand becomes one of the product. */
class ScaledProductsTest {
    private static final double BOUND = 1e-5;

    private static List<Supplier<Executor.Builder>> executors() {
        return List.of(Executor::builder, () -> PlanProbe.eager(Executor.builder().threads(2)),
                () -> Executor.builder().without(Pass.VIEWS),
                () -> Executor.builder().without(Pass.CHAINS).inPlace(false));
    }

    private static long factors(CompiledPlan plan) {
        return plan.tasks().stream()
                .flatMap(task -> task instanceof Task.Compute compute
                        ? compute.stages().stream()
                        : List.<Stage>of().stream())
                .filter(stage -> stage.computation() instanceof Unary unary
                        && unary.function() == Unary.Function.LINEAR)
                .count();
    }

    private static List<Tensor> run(Executor.Builder builder, Network network, Tensor x, long factors) {
        List<Tensor> found = new ArrayList<>();
        List<String> fetched = network.outputs().values().values().stream().map(Value::name).toList();
        try (Executor executor = builder.build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), Executor.feeds("x"), new Fetches(fetched));
            CompiledPlan specialisation = Internals.compiled(plan, executor.scope(), x);
            PlanCheck.assertRight(specialisation, Internals.options(executor).inOrder(), "");
            if (factors >= 0) {
                assertEquals(factors, factors(specialisation));
            }
            for (int i = 0; i < 3; i++) {
                Results results = plan.run(x);
                fetched.forEach(name -> found.add(Bits.copy(results.get(name))));
            }
            network.main().persistables()
                    .forEach(each -> found.add(Bits.copy(Objects.requireNonNull(executor.scope().get(each.name())))));
        }
        return found;
    }

    private static Value attention(Graph g, Value x, double factor) {
        List<Value> qkv = g.linear(x, 48).reshape(2, 8, 3, 2, 8).transpose(2, 0, 3, 1, 4).unstack(0);
        Value mask = g.constant(Bits.floats(-1e9)).expand(8, 8).triangle(false, 1);
        Value weights = qkv.get(0).times(factor).matmul(qkv.get(1), false, true).plus(mask).softmax(-1);
        return weights.matmul(qkv.get(2)).transpose(0, 2, 1, 3).reshape(2, 8, 16);
    }

    private static Network training(double factor) {
        return Network.define(1, g -> {
            Value y = attention(g, g.data("x", DType.FLOAT32, 2, 8, 16), factor);
            Value loss = y.square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss, "y", y);
        });
    }

    @Test
    void aPowerOfTwoChangesNoBit() {
        Tensor x = Bits.normal(1, 2, 8, 16);
        for (Supplier<Executor.Builder> executor : executors()) {
            List<Tensor> expected = run(executor.get().without(Pass.EPILOGUES), training(0.25), x, -1);
            List<Tensor> found = run(executor.get(), training(0.25), x, 0);
            for (int i = 0; i < expected.size(); i++) {
                Bits.assertSame(expected.get(i), found.get(i), "result " + i);
            }
        }
    }

    @Test
    void otherFactorsDifferByRounding() {
        Tensor x = Bits.normal(2, 2, 8, 16);
        double factor = 1 / Math.sqrt(8);
        for (Supplier<Executor.Builder> executor : executors()) {
            List<Tensor> expected = run(executor.get().without(Pass.EPILOGUES), training(factor), x, -1);
            List<Tensor> found = run(executor.get(), training(factor), x, 0);
            for (int i = 0; i < expected.size(); i++) {
                assertArrayEquals(expected.get(i).toDoubleArray(), found.get(i).toDoubleArray(), BOUND, "result " + i);
            }
        }
    }

    @Test
    void whatOthersReadIsScaled() {
        Network network = Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT32, 8, 16);
            Value scaled = x.times(3);
            Value wanted = x.tanh().times(5);
            Value shifted = x.times(0.5).plus(1);
            Value both = x.times(7);
            return Outputs.of("a", scaled.matmul(x, false, true).plus(scaled.softmax(-1).matmul(x, false, true)),
                    "wanted", wanted,
                    "b", wanted.matmul(x, false, true).plus(shifted.matmul(x, false, true))
                            .plus(both.matmul(both, false, true)));
        });
        Tensor x = Bits.normal(3, 8, 16);
        List<Tensor> expected = run(Executor.builder().without(Pass.EPILOGUES, Pass.CHAINS), network, x, -1);
        List<Tensor> found = run(Executor.builder().without(Pass.CHAINS), network, x, 5);
        for (int i = 0; i < expected.size(); i++) {
            Bits.assertSame(expected.get(i), found.get(i), "result " + i);
        }
    }
}
