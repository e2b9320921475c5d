package io.seriatim.graph;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.graph.optimizer.Adadelta;
import io.seriatim.graph.optimizer.Adagrad;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.optimizer.Adamax;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Decay;
import io.seriatim.graph.optimizer.Lamb;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.RmsProp;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The networks of tools/golden/programs, described with the builder: each layer is made and used in the order in which
 * Paddle's script does it.
 */
final class GoldenNetworks {
    static final Map<String, Function<Graph, Outputs>> ALL = all();

    private GoldenNetworks() {
    }

    private static Map<String, Function<Graph, Outputs>> all() {
        Map<String, Function<Graph, Outputs>> all = new LinkedHashMap<>();
        all.put("linear_sgd", g -> linear(g, Sgd.of(0.01)));
        all.put("schedule", g -> linear(g, Sgd.of(Schedule.noam(0.1, 16, 3))));
        all.put("mlp_momentum", g -> mlp(g, Momentum.of(0.01).nesterov(true).decay(Decay.l2(1e-2))));
        all.put("mlp_adam_globalnorm", g -> mlp(g, Adam.of(0.002).epsilon(1e-3).clip(Clip.globalNorm(0.5))));
        all.put("mlp_adamw_clipnorm",
                g -> mlp(g, AdamW.of(0.002).epsilon(1e-3).weightDecay(0.1).decays(name -> !name.contains(".b_"))
                        .clip(Clip.norm(0.5))));
        all.put("mlp_adagrad_l1",
                g -> mlp(g, Adagrad.of(0.005).initial(0.1).decay(Decay.l1(1e-2)).clip(Clip.value(0.05))));
        all.put("mlp_adadelta", g -> mlp(g, Adadelta.of(1.0)));
        all.put("mlp_adamax", g -> mlp(g, Adamax.of(0.002)));
        all.put("mlp_rmsprop", g -> mlp(g, RmsProp.of(0.001).momentum(0.9).centered(true)));
        all.put("mlp_lamb", g -> mlp(g, Lamb.of(0.01)));
        all.put("lenet_adam", GoldenNetworks::lenet);
        all.put("bn_conv", GoldenNetworks::batchNorm);
        all.put("embedding_sparse", g -> embedding(g, Adam.of(0.01).lazy(true)));
        all.put("embedding_sparse_sgd", g -> embedding(g, Sgd.of(0.1)));
        all.put("transformer", g -> transformer(g, 0));
        all.put("transformer_dropout", g -> transformer(g, 0.1));
        all.put("lstm", g -> recurrent(g, "lstm"));
        all.put("gru", g -> recurrent(g, "gru"));
        all.put("cond", GoldenNetworks::cond);
        all.put("while_loop", GoldenNetworks::whileLoop);
        all.put("shared_weight", GoldenNetworks::sharedWeight);
        all.put("no_grad_branch", GoldenNetworks::noGradBranch);
        all.put("gradients_twice", GoldenNetworks::gradientsTwice);
        all.put("gradient_penalty", GoldenNetworks::gradientPenalty);
        return all;
    }

    private static Value regress(Graph g, Value output) {
        return g.meanSquaredError(output, g.data("y", FLOAT32, -1, 1));
    }

    private static Outputs trained(Graph g, Value loss, Optimizer optimizer) {
        g.minimize(loss, optimizer);
        return Outputs.of("loss", loss);
    }

    private static Outputs linear(Graph g, Optimizer optimizer) {
        Value x = g.data("x", FLOAT32, -1, 13);
        return trained(g, regress(g, g.linear(x, 1)), optimizer);
    }

    private static Outputs mlp(Graph g, Optimizer optimizer) {
        Value x = g.data("x", FLOAT32, -1, 784);
        Value label = g.data("label", INT64, -1, 1);
        Layer last = g.layers().linear(32, 10);
        Value logits = last.apply(g.layers().linear(784, 32).apply(x).relu());
        return trained(g, g.softmaxCrossEntropy(logits, label).mean(), optimizer);
    }

    private static Outputs lenet(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 1, 28, 28);
        Value label = g.data("label", INT64, -1, 1);
        Layer conv1 = g.layers().conv2d(1, 4, 3).padding(1).make();
        Layer conv2 = g.layers().conv2d(4, 6, 5).make();
        Layer wide = g.layers().linear(150, 16);
        Layer narrow = g.layers().linear(16, 10);
        Value images = conv1.apply(x).relu().maxPool2d(2, 2, 0);
        Value features = conv2.apply(images).relu().maxPool2d(2, 2, 0).flatten(1);
        Value logits = narrow.apply(wide.apply(features).relu());
        return trained(g, g.softmaxCrossEntropy(logits, label).mean(), Adam.of(0.002)).and("output", logits);
    }

    private static Outputs batchNorm(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 3, 8, 8);
        Layer norm = g.layers().batchNorm(6);
        Layer conv = g.layers().conv2d(3, 6, 3).stride(2).padding(1).noBias().make();
        Value hidden = norm.apply(conv.apply(x)).relu();
        Layer last = g.layers().linear(24, 1);
        Value output = last.apply(hidden.adaptiveAveragePool2d(2, 2).flatten(1));
        return trained(g, regress(g, output), Sgd.of(0.05));
    }

    private static Outputs embedding(Graph g, Optimizer optimizer) {
        Value ids = g.data("ids", INT64, -1, 6);
        Value mean = g.layers().embedding(20, 8, true, -1, ParameterSpec.DEFAULT).apply(ids).mean(1);
        return trained(g, regress(g, g.linear(mean, 1)), optimizer);
    }

    private static Outputs transformer(Graph g, double dropout) {
        Value x = g.data("x", FLOAT32, -1, 5, 16);
        Layer layer = g.layers().transformerEncoderLayer(16, 2, 32, dropout, true);
        Layer last = g.layers().linear(16, 1);
        return trained(g, regress(g, last.apply(layer.apply(x).mean(1))), Adam.of(0.001));
    }

    private static Outputs recurrent(Graph g, String kind) {
        Value x = g.data("x", FLOAT32, -1, 5, 8);
        Recurrent layer = kind.equals("lstm") ? g.layers().lstm(8, 6) : g.layers().gru(8, 6);
        Value sequence = layer.apply(x);
        Layer last = g.layers().linear(6, 1);
        return trained(g, regress(g, last.apply(sequence.get(1, -1))), Sgd.of(0.05));
    }

    private static Outputs cond(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 4);
        Value y = g.data("y", FLOAT32, -1, 1);
        Layer shared = g.layers().linear(4, 4);
        Layer left = g.layers().linear(4, 3);
        Layer right = g.layers().linear(4, 3);
        Value hidden = shared.apply(x).tanh();
        Value branch = g.ifElse(x.mean().greaterThan(0), () -> left.apply(hidden).tanh(),
                () -> right.apply(hidden).sigmoid());
        Layer last = g.layers().linear(3, 1);
        return trained(g, g.meanSquaredError(last.apply(branch), y), Sgd.of(0.1));
    }

    private static Outputs whileLoop(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 4);
        Value y = g.data("y", FLOAT32, -1, 1);
        Layer recurrence = g.layers().linear(4, 4);
        Value step = g.full(INT64, 0, 1);
        Value last = g.full(INT64, 3, 1);
        Value hidden = g.layers().linear(4, 4).apply(x);
        List<Value> results = g.whileLoop(v -> List.of(v.get(0).lessThan(last)),
                v -> List.of(v.get(0).plus(1), v.get(1).plus(recurrence.apply(v.get(1)).plus(x).tanh())), step, hidden);
        Layer out = g.layers().linear(4, 1);
        return trained(g, g.meanSquaredError(out.apply(results.get(1)), y), Sgd.of(0.1));
    }

    private static Outputs sharedWeight(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 4);
        Value y = g.data("y", FLOAT32, -1, 4);
        Value weight = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 4, 4);
        Value hidden = x;
        for (int i = 0; i < 3; i++) {
            hidden = hidden.matmul(weight).tanh();
        }
        return trained(g, g.meanSquaredError(hidden, y), Sgd.of(1));
    }

    private static Outputs noGradBranch(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 4);
        Value y = g.data("y", FLOAT32, -1, 1);
        Layer learning = g.layers().linear(4, 1);
        Layer stopped = g.layers().linear(4, 1);
        Layer excluded = g.layers().linear(4, 1);
        Value constant = stopped.apply(x).tanh().stopGradient();
        Value output = learning.apply(x).times(constant).plus(excluded.apply(x).tanh());
        Value loss = g.meanSquaredError(output, y);
        g.minimize(loss, Sgd.of(0.1), g.trained(), Set.of(g.var("linear_2.w_0")));
        return Outputs.of("loss", loss);
    }

    private record Penalty(Value weight, Value value, Value gradient) {
    }

    private static Penalty tanhSquared(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 4).wantGradient();
        Value weight = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 4, 3);
        Value activation = x.matmul(weight).tanh();
        Value value = activation.times(activation).sum();
        Value gradient = g.gradients(List.of(value), List.of(x)).getFirst();
        if (gradient == null) {
            throw new AssertionError("there is a gradient");
        }
        return new Penalty(weight, value, gradient);
    }

    private static Outputs gradientsTwice(Graph g) {
        Penalty p = tanhSquared(g);
        Value penalty = p.gradient().times(p.gradient()).mean();
        Value second = g.gradients(List.of(penalty), List.of(p.weight())).getFirst();
        if (second == null) {
            throw new AssertionError("there is a second gradient");
        }
        return Outputs.of("loss", penalty, "first", p.gradient(), "second", second);
    }

    private static Outputs gradientPenalty(Graph g) {
        Penalty p = tanhSquared(g);
        return trained(g, p.value().plus(p.gradient().times(p.gradient()).mean()), Sgd.of(0.1)).and("first",
                p.gradient());
    }

    static Map<String, Tensor> entries() {
        return GoldenOperations.entries("/golden/programs.npz");
    }
}
