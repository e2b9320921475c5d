"""Makes tensor/src/test/resources/golden/kernels.npz: inputs and results of kernels, computed by PyTorch in float64.

Run from the root of the repository, with NumPy and PyTorch (made with NumPy 2 and PyTorch 2.15, CPU). Entries are named <case>/<argument>.
"""
import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(20261121)
out = {}


def rand(*shape, positive=False):
    x = torch.randn(*shape, dtype=torch.float64)
    return (x.abs() + 0.3 if positive else x).requires_grad_()


def save(case, **tensors):
    for name, value in tensors.items():
        out[f"{case}/{name}"] = np.ascontiguousarray(value.detach().numpy())


def grads(y, *xs):
    dy = torch.randn_like(y)
    return dy, torch.autograd.grad(y, xs, dy)


x, y = rand(3, 1, 7, 5), rand(2, 5, 4)
save("matmul", x=x, y=y, out=x @ y)

for name, args in {
    "conv": dict(stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=1),
    "conv_groups": dict(stride=1, padding=1, dilation=1, groups=2),
}.items():
    x, w, b = rand(2, 4, 9, 8), rand(6, 4 // args["groups"], 3, 2), rand(6)
    z = F.conv2d(x, w, b, **args)
    dz, (dx, dw, db) = grads(z, x, w, b)
    save(name, x=x, w=w, b=b, y=z, dy=dz, dx=dx, dw=dw, db=db)

x = rand(2, 3, 9, 8)
for name, z in {
    "pool_max": F.max_pool2d(x, (3, 2), (2, 1), (1, 1)),
    "pool_average": F.avg_pool2d(x, (3, 2), (2, 1), (1, 1), count_include_pad=False),
    "pool_padding": F.avg_pool2d(x, (3, 2), (2, 1), (1, 1), count_include_pad=True),
    "pool_adaptive": F.adaptive_avg_pool2d(x, (4, 3)),
}.items():
    dz, (dx,) = grads(z, x)
    save(name, x=x, y=z, dy=dz, dx=dx)

x, s, b = rand(4, 3, 5, 2), rand(3), rand(3)
z = F.batch_norm(x, None, None, s, b, training=True, eps=1e-3)
dz, (dx, ds, db) = grads(z, x, s, b)
mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
save("batch_norm", x=x, s=s, b=b, y=z, dy=dz, dx=dx, ds=ds, db=db, mean=mean, inverse=1 / torch.sqrt(var + 1e-3))

x, s, b = rand(5, 4, 3), rand(4, 3), rand(4, 3)
z = F.layer_norm(x, (4, 3), s, b, 1e-3)
dz, (dx, ds, db) = grads(z, x, s, b)
rows = x.reshape(5, 12)
save("layer_norm", x=x, s=s, b=b, y=z, dy=dz, dx=dx, ds=ds.reshape(-1), db=db.reshape(-1), mean=rows.mean(1), variance=rows.var(1, unbiased=False))

x, s, b = rand(2, 6, 3, 2), rand(6), rand(6)
z = F.group_norm(x, 3, s, b, 1e-3)
dz, (dx, ds, db) = grads(z, x, s, b)
groups = x.reshape(2, 3, 12)
save("group_norm", x=x, s=s, b=b, y=z, dy=dz, dx=dx, ds=ds, db=db, mean=groups.mean(2), variance=groups.var(2, unbiased=False))

x = rand(3, 5, 4)
for name, z in {"softmax": F.softmax(x, 1), "log_softmax": F.log_softmax(x, 1)}.items():
    dz, (dx,) = grads(z, x)
    save(name, x=x, y=z, dy=dz, dx=dx)

x, labels = rand(6, 5), torch.tensor([0, 4, -100, 2, 2, 1])
z = F.cross_entropy(x, labels, reduction="none", ignore_index=-100)
dz, (dx,) = grads(z, x)
save("cross_entropy", x=x, labels=labels.reshape(6, 1), softmax=F.softmax(x, 1), loss=z.reshape(6, 1), dloss=dz.reshape(6, 1), dx=dx)
soft = F.softmax(torch.randn(6, 5, dtype=torch.float64), 1)
z = F.cross_entropy(x, soft, reduction="none")
dz, (dx,) = grads(z, x)
save("cross_entropy_soft", x=x, labels=soft, loss=z.reshape(6, 1), dloss=dz.reshape(6, 1), dx=dx)

functions = {
    "RELU": F.relu, "LEAKY_RELU": lambda v: F.leaky_relu(v, 0.25), "ELU": lambda v: F.elu(v, 0.25), "SIGMOID": torch.sigmoid, "TANH": torch.tanh,
    "GELU_ERF": F.gelu, "GELU_TANH": lambda v: F.gelu(v, approximate="tanh"), "HARD_SWISH": F.hardswish, "MISH": F.mish, "EXP": torch.exp,
    "SQUARE": torch.square, "ABS": torch.abs, "SIN": torch.sin, "COS": torch.cos, "ERF": torch.erf, "NEGATE": torch.neg, "CLIP": lambda v: torch.clamp(v, 0.25, 0.75),
    "SWISH": lambda v: v * torch.sigmoid(0.25 * v), "SOFTPLUS": lambda v: F.softplus(v, 0.25, 0.75), "LINEAR": lambda v: 0.25 * v + 0.75,
    "HARD_SIGMOID": lambda v: torch.clamp(0.25 * v + 0.75, 0, 1),
}
positive = {"LOG": torch.log, "SQRT": torch.sqrt, "RSQRT": torch.rsqrt, "RECIPROCAL": torch.reciprocal, "POW": lambda v: v ** 0.25}
for signed, table in ((True, functions), (False, positive)):
    for name, f in table.items():
        x = rand(37, positive=not signed)
        z = f(x)
        dz, (dx,) = grads(z, x)
        save("unary_" + name, x=x, y=z, dy=dz, dx=dx)

a, b = rand(3, 1, 4, positive=True), rand(2, 1, positive=True)
for name, f in {"ADD": torch.add, "SUBTRACT": torch.sub, "MULTIPLY": torch.mul, "DIVIDE": torch.div, "MAXIMUM": torch.maximum, "MINIMUM": torch.minimum, "POWER": torch.pow}.items():
    z = f(a, b)
    dz, (da, db) = grads(z, a, b)
    save("binary_" + name, x=a, y=b, out=z, dout=dz, dx=da, dy=db)
for name, f in {"MODULO": torch.remainder, "FLOOR_DIVIDE": torch.floor_divide}.items():
    save("binary_" + name, x=a - 1, y=b - 1, out=f(a - 1, b - 1))

x = rand(3, 4, 5, positive=True)
for name, f in {
    "SUM": lambda v: v.sum((0, 2)), "MEAN": lambda v: v.mean((0, 2)), "MAX": lambda v: v.amax((0, 2)), "MIN": lambda v: v.amin((0, 2)), "PRODUCT": lambda v: v.prod(2).prod(0),
    "SUM_OF_SQUARES": lambda v: v.square().sum((0, 2)), "SUM_OF_MAGNITUDES": lambda v: v.abs().sum((0, 2)), "LOG_SUM_EXP": lambda v: v.logsumexp((0, 2)),
}.items():
    z = f(x)
    dz, (dx,) = grads(z, x)
    save("reduce_" + name, x=x, y=z, dy=dz, dx=dx)

x = rand(3, 7, 2)
values, indices = x.topk(3, 1)
save("top_k", x=x, values=values, indices=indices, arg=x.argmax(1), sums=x.cumsum(1), exclusive=x.flip(1).cumsum(1).flip(1) - x)
index = torch.tensor([[2, 0], [6, 6]])
z = x[:, index]
dz, (dx,) = grads(z, x)
save("gather", x=x, indices=index, y=z, dy=dz, dx=dx)
along = torch.randint(0, 7, (3, 4, 2))
z = torch.gather(x, 1, along)
dz, (dx,) = grads(z, x)
save("take_along", x=x, indices=along, y=z, dy=dz, dx=dx)
for mode in ("reflect", "replicate", "circular"):
    x4 = rand(1, 2, 4, 5)
    z = F.pad(x4, (2, 1, 1, 3), mode=mode)
    dz, (dx,) = grads(z, x4)
    save("pad_" + mode.upper(), x=x4, y=z, dy=dz, dx=dx)

# Optimizers: five steps of the rules as PaddlePaddle's operations have them, written out in NumPy.
rng = np.random.default_rng(7)
p0 = rng.normal(size=11)
gs = rng.normal(size=(5, 11))
lr = 0.05


def steps(name, rule, *initial):
    p, state = p0.copy(), [np.array(v, dtype=np.float64) * np.ones(11) for v in initial]
    for t, g in enumerate(gs, start=1):
        p, state = rule(p, g, state, t)
    out[f"{name}/p"] = p


def adam(decay):
    def rule(p, g, s, t):
        m, v = 0.9 * s[0] + 0.1 * g, 0.99 * s[1] + 0.01 * g * g
        rate = lr * np.sqrt(1 - 0.99 ** t) / (1 - 0.9 ** t)
        return p * (1 - lr * decay) - rate * m / (np.sqrt(v) + 1e-6 * np.sqrt(1 - 0.99 ** t)), [m, v]
    return rule


def lamb(p, g, s, t):
    m, v = 0.9 * s[0] + 0.1 * g, 0.99 * s[1] + 0.01 * g * g
    d = m / (1 - 0.9 ** t) / (np.sqrt(v / (1 - 0.99 ** t)) + 1e-6) + 0.01 * p
    return p - lr * np.linalg.norm(p) / np.linalg.norm(d) * d, [m, v]


def momentum(nesterov):
    def rule(p, g, s, t):
        g = g + 0.01 * p
        v = 0.9 * s[0] + g
        return p - lr * (g + 0.9 * v if nesterov else v), [v]
    return rule


def adadelta(p, g, s, t):
    a = 0.95 * s[0] + 0.05 * g * g
    u = -np.sqrt((s[1] + 1e-6) / (a + 1e-6)) * g
    return p + lr * u, [a, 0.95 * s[1] + 0.05 * u * u]


def adamax(p, g, s, t):
    m, i = 0.9 * s[0] + 0.1 * g, np.maximum(np.abs(g), 0.99 * s[1] + 1e-6)
    return p - lr / (1 - 0.9 ** t) * m / i, [m, i]


def rmsprop(centered):
    def rule(p, g, s, t):
        mom, sq, mg = s
        sq = 0.95 * sq + 0.05 * g * g
        mg = 0.95 * mg + 0.05 * g if centered else mg
        mom = 0.9 * mom + lr * g / np.sqrt(sq - (mg * mg if centered else 0) + 1e-6)
        return p - mom, [mom, sq, mg]
    return rule


out["optimizer/p0"], out["optimizer/grads"] = p0, gs
steps("sgd", lambda p, g, s, t: (p - lr * g, []))
steps("momentum", momentum(False), 0)
steps("nesterov", momentum(True), 0)
steps("adam", adam(0), 0, 0)
steps("adamw", adam(0.01), 0, 0)
steps("adagrad", lambda p, g, s, t: (p - lr * g / (np.sqrt(s[0] + g * g) + 1e-6), [s[0] + g * g]), 0.1)
steps("adadelta", adadelta, 0, 0)
steps("adamax", adamax, 0, 0)
steps("rmsprop", rmsprop(False), 0, 0, 0)
steps("rmsprop_centered", rmsprop(True), 0, 0, 0)
steps("lamb", lamb, 0, 0)

np.savez_compressed("tensor/src/test/resources/golden/kernels.npz", **out)
print(len(out), "arrays")
