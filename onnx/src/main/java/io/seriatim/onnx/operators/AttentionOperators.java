package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.node.Size;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Attention of ONNX, rotary embeddings, and what models of language have around them. */
public final class AttentionOperators {
    private AttentionOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.all("Attention", AttentionOperators::attention);
        operators.one("RotaryEmbedding", node -> rotary(node, node.maybe(3), node.input(1), node.input(2)));
        operators.all("CausalConvWithState", AttentionOperators::causal);
        operators.add(Registry.PREVIEW, "FlexAttention", node -> List.of(flexible(node)));
    }

    /** Images of heads [batch, heads, length, size], from [batch, length, heads · size]. */
    static Ref heads(Steps steps, Ref x, int heads) {
        return steps.transpose(steps.reshape(x, 0, 0, heads, x.dim(2) < 0 ? -1 : x.dim(2) / heads), 0, 2, 1, 3);
    }

    /** The opposite of {@link #heads}. */
    static Ref merged(Steps steps, Ref x) {
        long size = x.dim(1) < 0 || x.dim(3) < 0 ? -1 : x.dim(1) * x.dim(3);
        return steps.reshape(steps.transpose(x, 0, 2, 1, 3), 0, 0, size);
    }

    private static int heads(Node node, String name) {
        int heads = node.int32(name, 0);
        if (heads < 1) {
            throw node.error("needs the attribute '%s', a positive number, for operands of rank 3", name);
        }
        return heads;
    }

    private static List<Ref> attention(Node node) {
        Steps steps = new Steps(node.block());
        Ref q = node.input(0);
        Ref k = node.input(1);
        Ref v = node.input(2);
        boolean flat = q.rank() == 3;
        if (flat) {
            q = heads(steps, q, heads(node, "q_num_heads"));
            k = heads(steps, k, heads(node, "kv_num_heads"));
            v = heads(steps, v, heads(node, "kv_num_heads"));
        }
        Ref past = node.maybe(4);
        Ref pastValue = node.maybe(5);
        if (past != null && pastValue != null) {
            k = steps.concat(2, past, k);
            v = steps.concat(2, pastValue, v);
        }
        Ref presentKey = k;
        Ref presentValue = v;
        k = repeated(steps, k, q);
        v = repeated(steps, v, q);
        boolean open = q.dim(3) < 0 && !node.hasAttribute("scale");
        Ref scores = open
                ? scores(steps, q, k)
                : scores(steps, q, k,
                        node.hasAttribute("scale") ? node.real("scale", 1) : 1 / Math.sqrt((double) q.dim(3)));
        int mode = node.int32("qk_matmul_output_mode", 0);
        float cap = node.real("softcap", 0);
        Ref shown = scores;
        Ref capped = cap > 0
                ? steps.linear(steps.unary("tanh", steps.linear(scores, 1 / cap, 0)), cap, 0)
                : scores;
        if (mode == 1) {
            shown = capped;
        }
        Ref bias = bias(node, steps, q, k);
        Ref biased = bias == null ? capped : steps.add(capped, bias);
        if (mode == 2) {
            shown = biased;
        }
        DType precision = node.dtype("softmax_precision", q.dtype());
        Ref weights = steps.cast(probabilities(steps, steps.cast(biased, precision), bias), q.dtype());
        if (mode == 3) {
            shown = weights;
        }
        Ref y = steps.matmul(weights, v, false, false);
        return List.of(flat ? merged(steps, y) : y, presentKey, presentValue, shown);
    }

    /** Attention of which graphs of the model change the scores and the weights. */
    private static Ref flexible(Node node) {
        Steps steps = new Steps(node.block());
        Ref q = node.input(0);
        Ref k = node.input(1);
        Ref v = node.input(2);
        if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) {
            throw node.error("needs operands of rank 4, but they are %s, %s and %s", q.type(), k.type(), v.type());
        }
        k = repeated(steps, k, q);
        v = repeated(steps, v, q);
        boolean open = q.dim(3) < 0 && !node.hasAttribute("scale");
        Ref scores = open
                ? scores(steps, q, k)
                : scores(steps, q, k,
                        node.hasAttribute("scale") ? node.real("scale", 1) : 1 / Math.sqrt((double) q.dim(3)));
        DType computed = node.dtype("softmax_precision", Steps.precise(q.dtype()));
        Ref changed = changed(node, "score_mod", steps.cast(scores, computed));
        Ref weights = changed(node, "prob_mod", steps.softmax(changed));
        return steps.cast(steps.matmul(weights, steps.cast(v, computed), false, false), q.dtype());
    }

    private static Ref changed(Node node, String graph, Ref x) {
        if (!node.hasAttribute(graph)) {
            return x;
        }
        List<Ref> results = node.graphs().translate(node.graph(graph), node.block(), List.of(x));
        if (results.size() != 1 || !Lists.isTensor(results.getFirst()) || results.getFirst().dtype() != x.dtype()
                || results.getFirst().rank() != 4) {
            throw node.error("the graph '%s' gives one %s of rank 4, but %s", graph, x.dtype(),
                    results.stream().map(Ref::type).toList());
        }
        return results.getFirst();
    }

    /** q · kᵀ · scale; both are scaled by its root, which keeps 16-bit numbers in range. */
    static Ref scores(Steps steps, Ref q, Ref k, double scale) {
        if (q.dtype() == DType.FLOAT32 || q.dtype() == DType.FLOAT64 || scale <= 0) {
            return steps.linear(steps.matmul(q, k, false, true), scale, 0);
        }
        double root = Math.sqrt(scale);
        return steps.matmul(steps.linear(q, root, 0), steps.linear(k, root, 0), false, true);
    }

    /** The same for the inverse root of a size of heads that is known in a run. */
    private static Ref scores(Steps steps, Ref q, Ref k) {
        Ref size = steps.cast(steps.length(q, 3), Steps.precise(q.dtype()));
        Ref root = steps.cast(steps.pow(size, -0.25), q.dtype());
        return steps.matmul(steps.mul(q, root), steps.mul(k, root), false, true);
    }

    /** A softmax in which rows that the bias masks as a whole are 0. */
    static Ref probabilities(Steps steps, Ref scores, @Nullable Ref bias) {
        if (bias == null) {
            return steps.softmax(scores);
        }
        Ref largest = steps.reduce("reduce_max", steps.cast(bias, DType.FLOAT32), bias.rank() - 1);
        Ref masked = steps.op("equal").in("X", largest)
                .in("Y", steps.scalar(DType.FLOAT32, Double.NEGATIVE_INFINITY)).out("Out");
        return steps.where(masked, steps.scalar(scores.dtype(), 0), steps.softmax(scores));
    }

    /** Each head as often as there are heads of queries for it. */
    private static Ref repeated(Steps steps, Ref x, Ref q) {
        long heads = q.dim(1);
        if (heads >= 0 && x.dim(1) == heads) {
            return x;
        }
        if (heads < 0 || x.dim(1) < 0) {
            BlockBuilder block = steps.block();
            List<Size> sizes = new ArrayList<>(Size.all(block, x));
            Size all = Size.of(block, q, 1);
            Ref each = block.binary("elementwise_floordiv", all.tensor(block), sizes.get(1).tensor(block));
            sizes.add(2, new Size.Computed(each, null, 0));
            Ref wide = steps.op("onnx_expand").in("X", steps.unsqueeze(x, 2)).in("Shape", Size.tensor(block, sizes))
                    .out("Out");
            sizes.subList(1, 3).clear();
            sizes.add(1, all);
            return Size.reshape(block, wide, sizes);
        }
        if (x.dim(1) < 1 || heads % x.dim(1) != 0) {
            throw new IllegalArgumentException("the heads of the queries (" + heads
                    + ") are a multiple of those of the keys (" + x.dim(1) + ")");
        }
        return steps.op("repeat_interleave").in("X", x).attr("Repeats", heads / x.dim(1)).attr("dim", 1).out("Out");
    }

    private static Ref range(Steps steps, Ref length) {
        return steps.op("range").in("Start", steps.scalar(DType.INT64, 0)).in("End", length)
                .in("Step", steps.scalar(DType.INT64, 1)).out("Out");
    }

    /** 0 where a condition holds, −∞ elsewhere. */
    static Ref allowed(Steps steps, Ref condition, DType dtype) {
        return steps.where(condition, steps.scalar(dtype, 0), steps.scalar(dtype, Double.NEGATIVE_INFINITY));
    }

    /** What is added to the scores: mask, causal mask, window and padding; null if there is none. */
    private static @Nullable Ref bias(Node node, Steps steps, Ref q, Ref k) {
        DType dtype = q.dtype();
        List<Ref> parts = new ArrayList<>();
        Ref mask = node.maybe(3);
        Ref keys = steps.length(k, 2);
        if (mask != null) {
            parts.add(extended(steps, mask.dtype() == DType.BOOL ? allowed(steps, mask, dtype) : mask, k));
        }
        boolean causal = node.flag("is_causal", false);
        long left = node.integer("left_window_size", -1);
        long right = node.integer("right_window_size", -1);
        Ref valid = node.maybe(6);
        Ref columns = causal || left >= 0 || right >= 0 || valid != null ? range(steps, keys) : null;
        if (columns != null && (causal || left >= 0 || right >= 0)) {
            Ref queries = steps.length(q, 2);
            Ref rows = steps.unsqueeze(range(steps, queries), 1);
            Ref past = node.maybe(4);
            if (past != null) {
                rows = steps.add(rows, steps.length(past, 2));
            } else if (valid != null) {
                rows = steps.add(rows, steps.reshape(steps.sub(valid, queries), -1, 1, 1, 1));
            }
            Ref distance = steps.sub(rows, columns);
            if (causal) {
                parts.add(allowed(steps, compared(steps, "greater_equal", distance, 0), dtype));
            }
            if (left >= 0) {
                parts.add(allowed(steps, compared(steps, "less_equal", distance, left), dtype));
            }
            if (right >= 0) {
                parts.add(allowed(steps, compared(steps, "greater_equal", distance, -right), dtype));
            }
        }
        if (columns != null && valid != null) {
            Ref inside = steps.op("less_than").in("X", columns).in("Y", steps.reshape(valid, -1, 1, 1, 1)).out("Out");
            parts.add(allowed(steps, inside, dtype));
        }
        return parts.stream().reduce(steps::add).orElse(null);
    }

    private static Ref compared(Steps steps, String type, Ref x, long number) {
        return steps.op(type).in("X", x).in("Y", steps.block().integers(DType.INT64, number)).out("Out");
    }

    /** A mask that has fewer columns than there are keys masks the others. */
    private static Ref extended(Steps steps, Ref mask, Ref k) {
        long columns = mask.dim(-1);
        if (columns == 1 || (columns >= 0 && columns == k.dim(2)) || columns < 0 || k.dim(2) < 0) {
            return mask;
        }
        int[] paddings = new int[2 * mask.rank()];
        paddings[2 * mask.rank() - 1] = Math.toIntExact(k.dim(2) - columns);
        if (k.dim(2) < columns) {
            throw new IllegalArgumentException("the mask has more columns (" + columns + ") than there are keys ("
                    + k.dim(2) + ")");
        }
        return steps.op("pad").in("X", mask).attr("paddings", paddings)
                .attr("pad_value", Float.NEGATIVE_INFINITY).out("Out");
    }

    /** A rotation of pairs of elements by angles whose cosines and sines are given. */
    static Ref rotary(Node node, @Nullable Ref positions, Ref cosines, Ref sines) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        boolean flat = x.rank() == 3;
        Ref image;
        if (flat) {
            int heads = node.int32("num_heads", 0);
            int rotated = node.int32("rotary_embedding_dim", 0);
            long size = heads > 0 && x.dim(2) >= 0 ? x.dim(2) / heads : rotated > 0 ? rotated : 2 * cosines.dim(-1);
            boolean open = x.dim(2) < 0 && (heads > 0 || size > 0);
            if (!open && (size < 1 || x.dim(2) < 0 || heads < 0 || x.dim(2) % size != 0)) {
                throw node
                        .error("needs the attribute 'num_heads', which divides the last dimension of operands of rank "
                                + "3; they are %d and %d", heads, x.dim(2));
            }
            image = heads > 0 && open
                    ? steps.reshape(x, 0, 0, heads, -1)
                    : steps.reshape(x, 0, 0, open ? -1 : x.dim(2) / size, size);
        } else {
            image = steps.transpose(x, 0, 2, 1, 3);
        }
        long size = image.dim(3);
        int rotated = node.int32("rotary_embedding_dim", 0);
        if (rotated < 0 || (size >= 0 && rotated > size)) {
            throw node.error("the attribute 'rotary_embedding_dim' is at most the size of heads, but they are %d and "
                    + "%d", rotated, size);
        }
        Ref cos = steps.unsqueeze(at(steps, cosines, positions), 2);
        Ref sin = steps.unsqueeze(at(steps, sines, positions), 2);
        // A size that is not known may be longer than what is rotated.
        boolean part = rotated > 0 && (size < 0 || rotated < size);
        Ref turned = part ? steps.slice(image, 3, 0, rotated) : image;
        boolean interleaved = node.flag("interleaved", false);
        long half = part ? rotated / 2 : size < 0 ? -1 : size / 2;
        List<Ref> halves = half < 0 && !interleaved ? steps.split(turned, 3, 2) : List.of();
        Ref first = interleaved
                ? steps.everySecond(turned, 3, 0)
                : half < 0 ? halves.getFirst() : steps.slice(turned, 3, 0, half);
        Ref second = interleaved
                ? steps.everySecond(turned, 3, 1)
                : half < 0 ? halves.getLast() : steps.slice(turned, 3, half, 2 * half);
        Ref real = steps.sub(steps.mul(cos, first), steps.mul(sin, second));
        Ref imaginary = steps.add(steps.mul(sin, first), steps.mul(cos, second));
        Ref joined = interleaved
                ? Size.reshape(steps.block(), steps.concat(4, steps.unsqueeze(real, 4), steps.unsqueeze(imaginary, 4)),
                        Size.all(steps.block(), turned))
                : steps.concat(3, real, imaginary);
        Ref whole = part ? steps.concat(3, joined, steps.slice(image, 3, rotated, Integer.MAX_VALUE)) : joined;
        return flat ? steps.reshape(whole, 0, 0, x.dim(2)) : steps.transpose(whole, 0, 2, 1, 3);
    }

    /** The rows of a table at positions [batch, length]; the table itself without positions. */
    private static Ref at(Steps steps, Ref table, @Nullable Ref positions) {
        return positions == null
                ? table
                : steps.op("lookup_table_v2").in("W", table).in("Ids", positions).out("Out");
    }

    private static List<Ref> causal(Node node) {
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        Ref w = node.input(1);
        Ref past = node.maybe(3);
        if (x.rank() != 3 || w.rank() != 3 || (past != null && past.rank() != 3)) {
            throw node.error("needs operands and weights of 3 dimensions, but they are %s, %s and %s", x.type(),
                    w.type(), past == null ? "none" : past.type());
        }
        // The state holds the steps before, one less than the weights.
        long kernel = w.dim(2) >= 0 || past == null || past.dim(2) < 0 ? w.dim(2) : past.dim(2) + 1;
        long channels = w.dim(0) >= 0 ? w.dim(0) : x.dim(1);
        if (kernel < 1 || channels < 1) {
            throw node.error("needs weights of a known shape, but they are %s: declare it in the file, or give it when "
                    + "the model is loaded", w.type());
        }
        Ref padded;
        if (kernel == 1) {
            padded = x;
        } else if (past == null) {
            padded = steps.op("pad").in("X", x)
                    .attr("paddings", new int[]{0, 0, 0, 0, Math.toIntExact(kernel - 1), 0}).out("Out");
        } else {
            padded = steps.concat(2, past, x);
        }
        Ref result = steps.squeeze(steps.op("depthwise_conv2d").in("Input", steps.unsqueeze(padded, 2))
                .in("Filter", steps.unsqueeze(w, 2)).attr("groups", channels).out("Output"), 2);
        Ref bias = node.maybe(2);
        Ref sum = bias == null ? result : steps.add(result, steps.unsqueeze(bias, 1));
        String activation = node.text("activation", "none");
        Ref y = switch (activation) {
            case "none" -> sum;
            case "silu", "swish" -> steps.unary("silu", sum);
            default -> throw node.error("attribute 'activation' is none, silu or swish, but is '%s'", activation);
        };
        Ref state = kernel == 1
                ? steps.slice(padded, 2, 0, 0)
                : steps.slice(padded, 2, -(kernel - 1), Integer.MAX_VALUE);
        return List.of(y, state);
    }
}
