package io.seriatim.graph.format.pir;

import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.FileFormatException;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Truncated normal numbers of PaddlePaddle 3, which are cut at the numbers a and b, whatever mean and deviation are.
 * Those of PaddlePaddle 2 are cut at two deviations from the mean; other cuts become the operations that PaddlePaddle 3
 * computes: a uniform number between the values of the distribution function at a and b, and its quantile.
 */
final class PirTruncatedNormal {
    private static final double ROOT_TWO = Math.sqrt(2);

    private final PirReader reader;
    private final PirOperations operations;

    PirTruncatedNormal(PirReader reader, PirOperations operations) {
        this.reader = reader;
        this.operations = operations;
    }

    void read(JsonObject op) throws FileFormatException {
        double mean = number(op, "mean", 0);
        double deviation = Math.abs(number(op, "std", 1));
        double least = number(op, "a", -2);
        double most = number(op, "b", 2);
        if (!(operations.define(PirReader.results(op).get(0).object(),
                "truncated_gaussian_random") instanceof PirValue.Variable(String out))) {
            return;
        }
        if (least == mean - 2 * deviation && most == mean + 2 * deviation) {
            add(OpDesc.of("truncated_gaussian_random").out("Out", out).attr("shape", shape(op))
                    .attr("mean", (float) mean).attr("std", (float) deviation).attr("seed", seed(op))
                    .attr("dtype", type(out)));
            return;
        }
        if (deviation == 0) {
            // The distribution function is no number where a mean is divided by 0 at an end, or beyond it.
            double only = least < mean && mean < most ? mean : Double.NaN;
            add(fill(only, out).attr("shape", shape(op)).out("Out", out));
            return;
        }
        double scale = deviation * ROOT_TWO;
        String low = made(OpDesc.of("erf").in("X", number(out, (least - mean) / scale)), out, List.of());
        String high = made(OpDesc.of("erf").in("X", number(out, (most - mean) / scale)), out, List.of());
        String uniform = made(OpDesc.of("uniform_random").attr("shape", shape(op)).attr("min", 0f).attr("max", 1f)
                .attr("seed", seed(op)).attr("dtype", type(out)), out, dims(out));
        String place = binary("elementwise_add", binary("elementwise_mul", uniform,
                made(OpDesc.of("elementwise_sub").in("X", high).in("Y", low), out, List.of()), out), low, out);
        String quantile = made(OpDesc.of("erfinv").in("X", place), out, dims(out));
        String moved = binary("elementwise_add",
                binary("elementwise_mul", quantile, number(out, scale), out), number(out, mean), out);
        // The quantile at an end that is rounded to −1 or 1 is infinite.
        add(OpDesc.of("clip").in("X", moved).out("Out", out).attr("min", (float) least).attr("max", (float) most));
    }

    private static double number(JsonObject op, String attribute, double byDefault) throws FileFormatException {
        JsonValue json = PirReader.attribute(op, attribute);
        return switch (json == null ? null : PirAttributes.read(json)) {
            // Attributes are numbers of single precision, which the file writes with more or fewer digits.
            case Double value -> value.floatValue();
            case Long value -> (double) value;
            case null -> byDefault;
            default -> throw op.error("attribute " + attribute + " of truncated_gaussian_random is a number");
        };
    }

    private static Attribute shape(JsonObject op) throws FileFormatException {
        JsonValue json = PirReader.attribute(op, "shape");
        Object dims = json == null ? null : PirAttributes.read(json);
        if (json == null || dims == null) {
            throw op.error("truncated_gaussian_random has the attribute shape, a list of numbers");
        }
        return PirAttributes.convert(dims, Attribute.Ints.class, json);
    }

    private int type(String variable) {
        return reader.block().get(variable).tensor().dataType();
    }

    private List<Long> dims(String variable) {
        return reader.block().get(variable).tensor().dims();
    }

    private static Attribute seed(JsonObject op) throws FileFormatException {
        JsonValue json = PirReader.attribute(op, "seed");
        Object seed = json == null ? null : PirAttributes.read(json);
        return json == null || seed == null
                ? new Attribute.Int(0)
                : PirAttributes.convert(seed, Attribute.Int.class, json);
    }

    private String number(String like, double value) {
        return made(fill(value, like).attr("shape", new long[0]), like, List.of());
    }

    private OpDesc.Builder fill(double value, String like) {
        String text = Double.isNaN(value) ? "nan" : Double.toString(value);
        return OpDesc.of("fill_constant").attr("str_value", text).attr("value", (float) value)
                .attr("dtype", type(like));
    }

    private String binary(String kind, String x, String y, String like) {
        return made(OpDesc.of(kind).in("X", x).in("Y", y), like, dims(like));
    }

    private String made(OpDesc.Builder op, String like, List<Long> dims) {
        String name = reader.declare(reader.unique(like + ".cut"),
                new VarType.Dense(new VarType.TensorType(type(like), dims), null));
        add(op.out("Out", name));
        return name;
    }

    private void add(OpDesc.Builder op) {
        OpDesc built = op.build();
        operations.add(op, built.attributes().stream().map(each -> each.name()).collect(Collectors.toSet()),
                Operations.system().get(built.type()));
    }
}
