package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Recurrence;
import java.util.Locale;

/**
 * The structure that the attributes of {@code rnn} and the shape of its input give: layers of cells, in one direction
 * or in both. Reserve holds what the gradient needs, one after the other: for each layer and direction what its cells
 * save, then the output of each layer but the last, before dropout. DropoutState holds one mask for all layers.
 *
 * @param cell
 *            what a step computes
 * @param layers
 *            how many
 * @param directions
 *            1 or 2
 * @param steps
 *            of a sequence
 * @param batch
 *            how many sequences
 * @param size
 *            of the state
 * @param order
 *            of the gates
 * @param reverse
 *            whether the only direction begins with the last step
 */
record RecurrentNetwork(Recurrence.Cell cell, int layers, int directions, long steps, long batch, long size,
        Recurrence.Order order, boolean reverse) {
    static RecurrentNetwork of(Attrs attrs, long[] input) {
        return new RecurrentNetwork(cell(attrs), attrs.getInt("num_layers"), attrs.getBool("is_bidirec") ? 2 : 1,
                input[0], input[1],
                attrs.getInt("hidden_size"), order(attrs), attrs.getBool("is_reverse"));
    }

    private static Recurrence.Order order(Attrs attrs) {
        String order = attrs.getText("gate_order");
        return switch (order) {
            case "paddle" -> Recurrence.Order.PADDLE;
            case "onnx" -> Recurrence.Order.ONNX;
            default -> throw new IllegalArgumentException(
                    "the attribute 'gate_order' must be paddle or onnx, but is '" + order + "'");
        };
    }

    /** What a direction computes. */
    Recurrence recurrence(int direction, boolean lengths) {
        return new Recurrence(cell, isBackwards(direction), lengths, order);
    }

    /** Whether a direction begins with the last step. */
    boolean isBackwards(int direction) {
        return reverse || direction == 1;
    }

    private static Recurrence.Cell cell(Attrs attrs) {
        String mode = attrs.getText("mode").toUpperCase(Locale.ROOT);
        return switch (mode) {
            case "LSTM" -> Recurrence.Cell.LSTM;
            case "GRU" -> Recurrence.Cell.GRU;
            case "RNN_TANH" -> Recurrence.Cell.TANH;
            case "RNN_RELU" -> Recurrence.Cell.RELU;
            case "PEEPHOLE_LSTM" -> Recurrence.Cell.PEEPHOLE_LSTM;
            case "RESET_GRU" -> Recurrence.Cell.RESET_GRU;
            default ->
                throw new IllegalArgumentException(
                        "the attribute 'mode' must be LSTM, GRU, RNN_TANH, RNN_RELU, PEEPHOLE_LSTM or RESET_GRU, but "
                                + "is '" + mode + "'");
        };
    }

    /** How many states there are: LSTM has a cell too. */
    int states() {
        return cell.states();
    }

    /** All layers in all directions. */
    int rows() {
        return layers * directions;
    }

    int row(int layer, int direction) {
        return layer * directions + direction;
    }

    long gates() {
        return cell.gates() * size;
    }

    /** The width of a layer's output. */
    long width() {
        return directions * size;
    }

    /** How many tensors the list of weights has; peepholes, one tensor for each row, are the last ones. */
    int parameters() {
        return (cell == Recurrence.Cell.PEEPHOLE_LSTM ? 5 : 4) * rows();
    }

    int peepholes(int row) {
        return 4 * rows() + row;
    }

    /** The weights of a state, without those of a candidate that multiply what was reset. */
    Operand ofState(Operand weights) {
        return cell == Recurrence.Cell.RESET_GRU ? weights.slice(0, 0, resetFrom()) : weights;
    }

    /** The rows of a candidate that multiply what was reset. */
    Operand ofReset(Operand weights) {
        return weights.slice(0, resetFrom(), gates());
    }

    /** The first of the gates' numbers that belongs to the candidate, which is the last gate in each order. */
    long resetFrom() {
        return cell.products() * size;
    }

    /** Where the weights of the input, those of the state, and the biases of both are in the list. */
    int weights(int row, boolean ofState) {
        return 2 * row + (ofState ? 1 : 0);
    }

    int bias(int row, boolean ofState) {
        return 2 * rows() + weights(row, ofState);
    }

    private long savedByCell() {
        return steps * batch * cell.saved() * size;
    }

    private long outputOfLayer() {
        return steps * batch * width();
    }

    /** The elements of Reserve. */
    long reserved() {
        return Math.addExact(Math.multiplyExact(rows(), savedByCell()),
                Math.multiplyExact(layers - 1, outputOfLayer()));
    }

    /** The values that the cells of a row save in Reserve. */
    Operand saved(Operand reserve, int row) {
        long from = row * savedByCell();
        return reserve.slice(0, from, from + savedByCell()).reshape(steps, batch, cell.saved() * size);
    }

    /** The output of a layer but the last, in Reserve. */
    Operand output(Operand reserve, int layer) {
        long from = rows() * savedByCell() + layer * outputOfLayer();
        return reserve.slice(0, from, from + outputOfLayer()).reshape(steps, batch, width());
    }

    /** The part of a layer's output that one direction makes. */
    Operand direction(Operand output, int direction) {
        return output.slice(2, direction * size, (direction + 1) * size);
    }

    TensorSpec outputSpec(DType dtype) {
        return TensorSpec.of(dtype, steps, batch, width());
    }
}
