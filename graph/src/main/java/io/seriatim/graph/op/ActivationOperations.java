package io.seriatim.graph.op;

import io.seriatim.tensor.kernel.Unary;
import io.seriatim.tensor.kernel.Unary.Function;
import io.seriatim.tensor.kernel.UnaryGrad;
import java.util.function.Consumer;

/** Functions of each element. */
final class ActivationOperations {
    /** A function whose gradient reads x, y or both. */
    private enum Needs {
        X("X, Out@GRAD"), OUT("Out, Out@GRAD"), BOTH("X, Out, Out@GRAD"), NEITHER("Out@GRAD");

        private final String slots;

        Needs(String slots) {
            this.slots = slots;
        }
    }

    private ActivationOperations() {
    }

    static void register(Operations registry) {
        plain(registry, "exp", Function.EXP, Needs.OUT);
        plain(registry, "relu", Function.RELU, Needs.OUT);
    }

    private static void plain(Operations registry, String type, Function function, Needs needs) {
        function(registry, type, needs, _ -> {
        }, _ -> Unary.of(function));
    }

    private static void function(Operations registry, String type, Needs needs, Consumer<Operation.Builder> attributes,
            java.util.function.Function<Attrs, Unary> unary) {
        Operation.Builder builder = Operation.define(type).in("X").out("Out");
        attributes.accept(builder);
        builder.infer(inference -> inference.same("X", "Out")).lower(l -> l.out("Out", l.run(unary.apply(l.attrs()), l.in("X"))))
                .grad(type + "_grad(" + needs.slots + ") -> X@GRAD", l -> l.out("X@GRAD",
                        l.run(UnaryGrad.of(unary.apply(l.attrs())), l.optional("X"), l.optional("Out"), l.in("Out@GRAD"))))
                .register(registry);
    }
}
