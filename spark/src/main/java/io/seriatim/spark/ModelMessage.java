package io.seriatim.spark;

import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A model as Spark sends it to executors. Schedules are functions, of which the rates of all steps are sent. */
final class ModelMessage implements Serializable {
    private static final long serialVersionUID = 1;

    private final String name;
    private final byte[] main;
    private final byte[] startup;
    private final byte[] evaluation;
    private final ArrayList<String> feeds;
    private final String loss;
    private final LinkedHashMap<String, String> metrics;
    private final LinkedHashMap<String, double[]> rates = new LinkedHashMap<>();
    private final ArrayList<String> inputs;
    private final ArrayList<String> outputs;
    private final String unit;
    private final int unitsPerExample;
    private final LinkedHashMap<String, Value> values;
    private final LinkedHashMap<String, String> named;

    /** A tensor. */
    static final class Value implements Serializable {
        private static final long serialVersionUID = 1;

        private final DType type;
        private final long[] dims;
        private final byte[] bytes;

        Value(Tensor tensor) {
            type = tensor.dtype();
            dims = new long[tensor.shape().rank()];
            for (int i = 0; i < dims.length; i++) {
                dims[i] = tensor.shape().dim(i);
            }
            bytes = tensor.declared().elements().toArray(ValueLayout.JAVA_BYTE);
        }

        Tensor tensor() {
            Tensor tensor = Tensor.allocate(type, dims);
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, tensor.memory(), 0, bytes.length);
            return tensor;
        }
    }

    /** A model with rates for some steps. */
    ModelMessage(Model model, long steps) {
        name = model.name();
        main = ProgramFiles.toBytes(model.main());
        startup = ProgramFiles.toBytes(model.startup());
        evaluation = ProgramFiles.toBytes(model.evaluation());
        feeds = new ArrayList<>(model.feeds());
        loss = model.loss();
        metrics = new LinkedHashMap<>(model.metrics());
        model.schedules().forEach((variable, schedule) -> {
            double[] all = new double[Math.toIntExact(steps)];
            for (int i = 0; i < all.length; i++) {
                all[i] = schedule.rate(i);
            }
            rates.put(variable, all);
        });
        inputs = new ArrayList<>(model.inputs());
        outputs = new ArrayList<>(model.outputs());
        unit = model.unit();
        unitsPerExample = model.unitsPerExample();
        values = new LinkedHashMap<>(values(model.values()));
        named = new LinkedHashMap<>(model.named());
    }

    static Map<String, Value> values(Map<String, Tensor> tensors) {
        Map<String, Value> values = new LinkedHashMap<>();
        tensors.forEach((variable, tensor) -> values.put(variable, new Value(tensor)));
        return values;
    }

    static Map<String, Tensor> tensors(Map<String, Value> values) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        values.forEach((variable, value) -> tensors.put(variable, value.tensor()));
        return tensors;
    }

    Model model() throws FileFormatException {
        Map<String, Schedule> schedules = new LinkedHashMap<>();
        rates.forEach((variable, all) -> schedules.put(variable, step -> all[Math.toIntExact(step)]));
        return new Model(name, ProgramFiles.parse(name + "/main", main), ProgramFiles.parse(name + "/startup", startup),
                ProgramFiles.parse(name + "/evaluation", evaluation), List.copyOf(feeds), loss, metrics, schedules,
                inputs, outputs, unit, unitsPerExample, tensors(values), named);
    }
}
