package io.seriatim.graph.format.pir;

import io.seriatim.graph.json.JsonWriter;
import java.io.IOException;
import java.util.List;

/** Writes a program of PIR as JSON. */
final class PirDocument {
    private static final long CPU = 1;

    private final JsonWriter out;
    private int regions;

    private PirDocument(JsonWriter out) {
        this.out = out;
    }

    static void write(Appendable to, List<PirOp.Parameter> parameters, List<PirOp> ops) throws IOException {
        PirDocument document = new PirDocument(new JsonWriter(to));
        document.out.beginObject().name("base_code").beginObject().name("magic").value("pir").name("trainable")
                .value(true).name("version").value((long) PirReader.VERSION).end().name("program").beginObject()
                .name("regions").beginArray();
        document.begin();
        document.out.name("args").beginArray().end().name("ops").beginArray();
        for (PirOp.Parameter parameter : parameters) {
            document.parameter(parameter);
        }
        for (PirOp op : ops) {
            document.op(op);
        }
        document.out.end();
        document.finish();
        document.out.end().end().end();
    }

    /** Opens a region with its block. */
    private void begin() throws IOException {
        out.beginObject().name("#").value("region_" + regions).name("blocks").beginArray().beginObject().name("#")
                .value("block_" + regions);
        regions++;
    }

    private void finish() throws IOException {
        out.end().end().end();
    }

    private void parameter(PirOp.Parameter parameter) throws IOException {
        out.beginObject().name("#").value(PirReader.PARAMETER);
        out.name("A").beginArray().value(0L).value(1L).value(1L).value(parameter.name()).end();
        out.name("DA").beginArray().end().name("O").beginObject().name("%").value(parameter.number()).name("TT");
        PirTypes.write(out, parameter.type());
        out.end().name("OA").beginArray().value(1L).value(parameter.stops() ? 1L : 0L)
                .value(parameter.stops() ? 0L : 1L).end().name("QA").beginArray().end().end();
    }

    private void op(PirOp op) throws IOException {
        out.beginObject().name("#").value(op.kind()).name("A").beginArray();
        for (PirOp.Given given : op.attributes()) {
            out.beginObject().name("AT");
            attribute(given.kind(), given.value());
            out.name("N").value(given.name()).end();
        }
        out.end().name("I").beginArray();
        for (long number : op.operands()) {
            out.beginObject().name("%").value(number).end();
        }
        out.end().name("O").beginArray();
        for (PirOp.Result result : op.results()) {
            result("%", result);
        }
        out.end();
        if (!op.regions().isEmpty()) {
            out.name("regions").beginArray();
            for (PirOp.Region region : op.regions()) {
                region(region);
            }
            out.end();
        }
        out.end();
    }

    private void region(PirOp.Region region) throws IOException {
        begin();
        out.name("args").beginArray();
        for (PirOp.Result argument : region.arguments()) {
            result("#", argument);
        }
        out.end().name("ops").beginArray();
        for (PirOp op : region.ops()) {
            op(op);
        }
        out.end();
        finish();
    }

    private void result(String key, PirOp.Result result) throws IOException {
        out.beginObject().name(key).value(result.number()).name("TT");
        if (result.isVector()) {
            PirTypes.writeVector(out, result.types());
        } else {
            PirTypes.write(out, result.types().getFirst());
        }
        out.end();
    }

    private void attribute(String kind, Object value) throws IOException {
        out.beginObject().name("#");
        if (kind.endsWith("[]")) {
            out.value("0.a_array").name("D").beginArray();
            for (Object each : (List<?>) value) {
                attribute(kind.substring(0, kind.length() - 2), each);
            }
            out.end();
        } else {
            switch (kind) {
                case "bool" -> out.value("0.a_bool").name("D").value(PirConstants.whole(value) != 0);
                case "i32", "i64" -> out.value("0.a_" + kind).name("D").value(PirConstants.whole(value));
                case "f32" -> real("0.a_f32", (float) PirConstants.real(value));
                case "f64" -> real("0.a_f64", PirConstants.real(value));
                case "str" -> out.value("0.a_str").name("D").value((String) value);
                case "layout" -> out.value("1.a_layout").name("D").value((String) value);
                case "dtype" -> out.value("1.a_dtype").name("D").value(PirTypes.name((int) PirConstants.whole(value)));
                case "place" -> out.value("1.a_place").name("D").beginArray().value("cpu".equals(value) ? CPU : 0L)
                        .value(0L).value("").end();
                case PirTable.INTS -> {
                    out.value("1.a_intarray").name("D").beginArray();
                    for (Object each : (List<?>) value) {
                        out.value(PirConstants.whole(each));
                    }
                    out.end();
                }
                case "scalar" -> scalar(value);
                default -> throw new IllegalStateException("The table has an attribute of type " + kind);
            }
        }
        out.end();
    }

    private void real(String tag, double value) throws IOException {
        out.value(tag);
        if (Double.isFinite(value)) {
            out.name("D").value(value);
        } else {
            out.name("VD").value(Double.isNaN(value) ? "NaN" : value > 0 ? "INF" : "-INF");
        }
    }

    private void scalar(Object value) throws IOException {
        out.value("1.a_scalar").name("D").beginArray();
        switch (value) {
            case Boolean flag -> out.value("bool").value(flag);
            case Long number -> out.value("int64").value(number);
            default -> out.value("float32").value(PirConstants.real(value));
        }
        out.end();
    }
}
