package io.seriatim.tensor.internal.ffi;

/** A function of oneDNN failed. The message names the function, its status and its arguments. */
public final class DnnlException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private final DnnlStatus status;

    DnnlException(String function, DnnlStatus status, String arguments) {
        super("oneDNN: " + function + arguments + " failed with status " + status);
        this.status = status;
    }

    /**
     * Why the function failed.
     *
     * @return the status
     */
    public DnnlStatus status() {
        return status;
    }
}
