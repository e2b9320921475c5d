package io.seriatim.engine;

/** Thrown to a thread that pushes on a closed engine, so that the engine recognises it as the failure of a body. */
final class PushRefusedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    PushRefusedException(String message) {
        super(message);
    }
}
