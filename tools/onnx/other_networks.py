#!/usr/bin/env python3
"""Writes networks that no work on speed looked at before it was done: other_networks.py FOLDER [REGEX].

Another choice of torchvision and transformers, and other small networks of images, volumes, sound, tables and graphs.
It says how far what networks.py measures holds in general. FOLDER gets the same form, and REGEX chooses by name. Tested
with torch 2.15, torchvision 0.29, transformers 5.23 and onnxruntime 1.32.
"""
import torch
import torchvision
import transformers
from torch import nn
from torch.nn import functional

from networks import First, Segmenter, image, main, vision


class Generator(nn.Module):
    """Images from noise by transposed convolutions (DCGAN)."""

    def __init__(self, widths=(100, 256, 128, 64, 32)):
        super().__init__()
        layers = []
        for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
            layers += [nn.ConvTranspose2d(inputs, outputs, 4, 2 if i else 1, 1 if i else 0),
                       nn.BatchNorm2d(outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.ConvTranspose2d(widths[-1], 3, 4, 2, 1), nn.Tanh())

    def forward(self, x):
        return self.layers(x)


class Translator(nn.Module):
    """Images from images (Pix2Pix), with normalised instances."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 4, 2, 1)
        self.down = nn.ModuleList(nn.Sequential(nn.LeakyReLU(0.2), nn.Conv2d(i, o, 4, 2, 1), nn.InstanceNorm2d(o))
                                  for i, o in ((32, 64), (64, 128), (128, 128)))
        self.up = nn.ModuleList(nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(i, o, 4, 2, 1), nn.InstanceNorm2d(o))
                                for i, o in ((128, 128), (256, 64), (128, 32)))
        self.last = nn.ConvTranspose2d(64, 3, 4, 2, 1)

    def forward(self, x):
        levels = [self.first(x)]
        for layer in self.down:
            levels.append(layer(levels[-1]))
        x = levels.pop()
        for layer in self.up:
            x = torch.cat([layer(x), levels.pop()], 1)
        return torch.tanh(self.last(x))


class Resolution(nn.Module):
    """EDSR with the rectifiers of SRResNet, whose slopes are trained."""

    def __init__(self, width=48, blocks=6):
        super().__init__()
        self.head = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList(nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1), nn.PReLU(), nn.Conv2d(width, width, 3, padding=1))
            for _ in range(blocks))
        self.tail = nn.Sequential(nn.Conv2d(width, 4 * width, 3, padding=1), nn.PixelShuffle(2),
                                  nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, x):
        x = self.head(x)
        y = x
        for block in self.blocks:
            y = y + 0.1 * block(y)
        return self.tail(x + y)


class Mixer(nn.Module):
    def __init__(self, width=256, layers=6, patches=64):
        super().__init__()
        self.embed = nn.Conv2d(3, width, 16, 16)

        def dense(size, inner):
            return nn.Sequential(nn.Linear(size, inner), nn.GELU(), nn.Linear(inner, size))
        self.layers = nn.ModuleList(nn.ModuleList(
            [nn.LayerNorm(width), dense(patches, 128), nn.LayerNorm(width), dense(width, 1024)]) for _ in range(layers))
        self.last = nn.Linear(width, 100)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        for norm, patches, other, channels in self.layers:
            x = x + patches(norm(x).transpose(1, 2)).transpose(1, 2)
            x = x + channels(other(x))
        return self.last(x.mean(1))


class Wavenet(nn.Module):
    def __init__(self, width=64, layers=12):
        super().__init__()
        self.first = nn.Conv1d(1, width, 1)
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 3, padding=2 ** (i % 6), dilation=2 ** (i % 6))
                                   for i in range(layers))
        self.mixes = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(width, width, 1), nn.ReLU(), nn.Conv1d(width, 64, 1))

    def forward(self, x):
        x = self.first(x)
        total = 0
        for gate, mix in zip(self.gates, self.mixes):
            value, share = gate(x).chunk(2, 1)
            y = mix(torch.tanh(value) * torch.sigmoid(share))
            total = total + y
            x = x + y
        return self.last(total)


class Separator(nn.Module):
    """Two voices from one sound (Conv-TasNet)."""

    def __init__(self, width=128, blocks=6):
        super().__init__()
        self.encode = nn.Conv1d(1, width, 16, 8)
        self.blocks = nn.ModuleList(nn.Sequential(
            nn.Conv1d(width, 2 * width, 1), nn.PReLU(), nn.GroupNorm(1, 2 * width),
            nn.Conv1d(2 * width, 2 * width, 3, padding=2 ** i, dilation=2 ** i, groups=2 * width), nn.PReLU(),
            nn.GroupNorm(1, 2 * width), nn.Conv1d(2 * width, width, 1)) for i in range(blocks))
        self.masks = nn.Conv1d(width, 2 * width, 1)
        self.decode = nn.ConvTranspose1d(width, 1, 16, 8)

    def forward(self, x):
        x = self.encode(x)
        y = x
        for block in self.blocks:
            y = y + block(y)
        return torch.cat([self.decode(x * mask) for mask in torch.sigmoid(self.masks(y)).chunk(2, 1)], 1)


class Recommender(nn.Module):
    """DeepFM: a table for each category, their products, and dense layers."""

    def __init__(self, fields=26, width=16):
        super().__init__()
        self.vectors = nn.ModuleList(nn.Embedding(1000, width) for _ in range(fields))
        self.weights = nn.ModuleList(nn.Embedding(1000, 1) for _ in range(fields))
        self.deep = nn.Sequential(nn.Linear(fields * width + 13, 256), nn.ReLU(), nn.BatchNorm1d(256),
                                  nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, numbers, categories):
        vectors = torch.stack([each(categories[:, i]) for i, each in enumerate(self.vectors)], 1)
        linear = sum(each(categories[:, i]) for i, each in enumerate(self.weights))
        pairs = 0.5 * (vectors.sum(1) ** 2 - (vectors ** 2).sum(1)).sum(1, keepdim=True)
        return torch.sigmoid(linear + pairs + self.deep(torch.cat([vectors.flatten(1), numbers], 1)))


class GraphAttention(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(32, width), nn.Linear(width, width)])
        self.scores = nn.Linear(width // heads, 2)
        self.last = nn.Linear(width, 7)
        self.heads = heads

    def forward(self, x, adjacent):
        for layer in self.layers:
            x = layer(x)
            nodes = x.shape[0]
            parts = x.reshape(nodes, self.heads, -1)
            scores = self.scores(parts)
            edges = functional.leaky_relu(scores[:, :, 0].unsqueeze(1) + scores[:, :, 1].unsqueeze(0), 0.2)
            edges = edges.permute(2, 0, 1)
            edges = torch.where(adjacent > 0, edges, torch.full_like(edges, -1e9)).softmax(-1)
            x = functional.elu((edges @ parts.permute(1, 0, 2)).permute(1, 0, 2).reshape(nodes, -1))
        return self.last(x)


class GraphConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(32, 64)
        self.last = nn.Linear(64, 7)

    @staticmethod
    def gathered(x, sources, targets):
        places = targets.unsqueeze(1).expand(-1, x.shape[1])
        return torch.zeros_like(x).scatter_add(0, places, x.index_select(0, sources))

    def forward(self, x, sources, targets):
        x = functional.relu(self.first(self.gathered(x, sources, targets)))
        return self.last(self.gathered(x, sources, targets))


class Faces(nn.Module):
    """Boxes at two levels from depthwise convolutions of 5 × 5 (BlazeFace)."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 24, 5, 2, 2)
        self.blocks = nn.ModuleList(nn.Sequential(
            nn.Conv2d(i, i, 5, stride, 2, groups=i), nn.Conv2d(i, o, 1), nn.BatchNorm2d(o)) for i, o, stride in (
                (24, 24, 1), (24, 28, 1), (28, 48, 2), (48, 48, 1), (48, 88, 2), (88, 88, 1), (88, 96, 2)))
        self.heads = nn.ModuleList([nn.Conv2d(88, 2, 3, padding=1), nn.Conv2d(96, 6, 3, padding=1)])

    def forward(self, x):
        x = functional.relu(self.first(x))
        near = None
        for i, block in enumerate(self.blocks):
            y = block(x)
            x = functional.relu(y + x) if y.shape == x.shape else functional.relu(y)
            if i == 5:
                near = self.heads[0](x)
        return torch.cat([each.permute(0, 2, 3, 1).reshape(1, -1) for each in (near, self.heads[1](x))], 1).sigmoid()


class Lines(nn.Module):
    """A map of where text is (DBNet)."""

    def __init__(self):
        super().__init__()
        self.body = torchvision.models.mobilenet_v3_small(weights=None).features
        self.sides = nn.ModuleList(nn.Conv2d(c, 64, 1, bias=False) for c in (16, 24, 48, 576))
        self.smooth = nn.ModuleList(nn.Conv2d(64, 16, 3, padding=1) for _ in range(4))
        self.last = nn.Sequential(
            nn.Conv2d(64, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.ConvTranspose2d(16, 16, 2, 2),
            nn.BatchNorm2d(16), nn.ReLU(), nn.ConvTranspose2d(16, 1, 2, 2), nn.Sigmoid())

    def forward(self, x):
        levels = []
        for i, layer in enumerate(self.body):
            x = layer(x)
            if i in (1, 3, 8, 12):
                levels.append(self.sides[len(levels)](x))
        for i in (2, 1, 0):
            levels[i] = levels[i] + functional.interpolate(levels[i + 1], scale_factor=2.0, mode="nearest")
        levels = [smooth(level) for smooth, level in zip(self.smooth, levels)]
        return self.last(torch.cat([functional.interpolate(level, scale_factor=2.0 ** i, mode="nearest") if i else level
                                    for i, level in enumerate(levels)], 1))


class Volumes(nn.Module):
    """A U-Net of three dimensions."""

    def __init__(self, width=16):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(nn.Conv3d(inputs, outputs, 3, padding=1), nn.InstanceNorm3d(outputs),
                                 nn.LeakyReLU(0.01))
        self.down = nn.ModuleList([block(1, width), block(width, 2 * width), block(2 * width, 4 * width)])
        self.up = nn.ModuleList([nn.ConvTranspose3d(4 * width, 2 * width, 2, 2),
                                 nn.ConvTranspose3d(2 * width, width, 2, 2)])
        self.join = nn.ModuleList([block(4 * width, 2 * width), block(2 * width, width)])
        self.last = nn.Conv3d(width, 3, 1)

    def forward(self, x):
        first = self.down[0](x)
        second = self.down[1](functional.max_pool3d(first, 2))
        x = self.down[2](functional.max_pool3d(second, 2))
        for up, join, skip in zip(self.up, self.join, (second, first)):
            x = join(torch.cat([up(x), skip], 1))
        return self.last(x)


class Decoder(nn.Module):
    """Images from latent ones, as diffusion models end."""

    def __init__(self, width=32):
        super().__init__()

        def block(c):
            return nn.Sequential(nn.GroupNorm(8, c), nn.SiLU(), nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(8, c),
                                 nn.SiLU(), nn.Conv2d(c, c, 3, padding=1))
        self.first = nn.Conv2d(4, 4 * width, 3, padding=1)
        self.blocks = nn.ModuleList([block(4 * width), block(2 * width), block(width)])
        self.up = nn.ModuleList([nn.Conv2d(4 * width, 2 * width, 3, padding=1),
                                 nn.Conv2d(2 * width, width, 3, padding=1)])
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        x = self.first(x)
        for i, block in enumerate(self.blocks):
            x = x + block(x)
            if i < 2:
                x = self.up[i](functional.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.last(x)


def torchvision_model(name, batch, size, **options):
    return lambda: (vision(name, **options)()[0], (torch.randn(batch, 3, size, size),))


def segmentation(name, size):
    return lambda: (Segmenter(getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None)),
                    (image(size),))


def model(name, *example, **options):
    """A model of transformers and its inputs; a whole number stands for so many words."""
    def make():
        given = {"attn_implementation": "eager", **options}
        config = getattr(transformers, name.replace("Encoder", "") + "Config")
        kind = (transformers.models.whisper.modeling_whisper.WhisperEncoder if name == "WhisperEncoder"
                else getattr(transformers, name + "Model"))
        inputs = tuple(torch.randint(0, 90, (1, each)) if isinstance(each, int) else torch.randn(*each)
                       for each in example)
        return First(kind(config(**given))), inputs
    return make


SMALL = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}
TEXT = {**SMALL, "vocab_size": 1000}
TINY = {"hidden_size": 192, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 768}

OTHERS = {
    "alexnet": torchvision_model("alexnet", 1, 224),
    "vgg11": lambda: (torchvision.models.vgg11(weights=None).features, (image(112),)),
    "inception_v3": torchvision_model("inception_v3", 1, 224, init_weights=False, aux_logits=False),
    "resnext50": torchvision_model("resnext50_32x4d", 1, 160),
    "maxvit_t": torchvision_model("maxvit_t", 1, 224),
    "swin_v2_t": torchvision_model("swin_v2_t", 1, 128),
    "mnasnet0_5": torchvision_model("mnasnet0_5", 4, 160),
    "shufflenet_v2_x2_0": torchvision_model("shufflenet_v2_x2_0", 2, 160),
    "regnet_x_400mf": torchvision_model("regnet_x_400mf", 2, 160),
    "efficientnet_b1": torchvision_model("efficientnet_b1", 1, 160),
    "r3d_18": lambda: (torchvision.models.video.r3d_18(weights=None), (torch.randn(1, 3, 8, 64, 64),)),
    "fcn_resnet50": segmentation("fcn_resnet50", 96),
    "deeplabv3_mobilenet": segmentation("deeplabv3_mobilenet_v3_large", 160),
    "dcgan": lambda: (Generator(), (torch.randn(4, 100, 1, 1),)),
    "pix2pix": lambda: (Translator(), (image(128),)),
    "edsr": lambda: (Resolution(), (image(64),)),
    "mixer": lambda: (Mixer(), (torch.randn(2, 3, 128, 128),)),
    "wavenet": lambda: (Wavenet(), (torch.randn(1, 1, 2000),)),
    "tasnet": lambda: (Separator(), (torch.randn(1, 1, 8000),)),
    "deepfm": lambda: (Recommender(), (torch.randn(128, 13), torch.randint(0, 1000, (128, 26)))),
    "gat": lambda: (GraphAttention(), (torch.randn(200, 32), (torch.randn(200, 200) > 1).float())),
    "gcn": lambda: (GraphConvolution(),
                    (torch.randn(500, 32), torch.randint(0, 500, (2000,)), torch.randint(0, 500, (2000,)))),
    "blazeface": lambda: (Faces(), (image(128),)),
    "dbnet": lambda: (Lines(), (image(256),)),
    "unet3d": lambda: (Volumes(), (torch.randn(1, 1, 16, 32, 32),)),
    "vae_decoder": lambda: (Decoder(), (image(24, 4),)),
    "electra": model("Electra", 48, embedding_size=128, **TEXT),
    "roberta": model("Roberta", 48, **TEXT),
    "mobilebert": model("MobileBert", 48, vocab_size=1000, num_hidden_layers=6),
    "squeezebert": model("SqueezeBert", 48, embedding_size=256, **TEXT),
    "deberta": model("DebertaV2", 48, relative_attention=True, pos_att_type=["p2c", "c2p"],
                     max_relative_positions=64, **TEXT),
    "mpnet": model("MPNet", 48, **TEXT),
    "opt": model("OPT", 48, hidden_size=256, word_embed_proj_dim=256, num_hidden_layers=4, num_attention_heads=4,
                 ffn_dim=1024, vocab_size=1000, use_cache=False),
    "bloom": model("Bloom", 48, hidden_size=256, n_layer=4, n_head=4, vocab_size=1000, use_cache=False),
    "clip_text": model("CLIPText", 64, **TEXT),
    "clip_vision": model("CLIPVision", (1, 3, 128, 128), image_size=128, patch_size=16, **SMALL),
    "beit": model("Beit", (1, 3, 128, 128), image_size=128, **TINY),
    "dinov2": model("Dinov2", (1, 3, 112, 112), image_size=112, patch_size=14, **TINY),
    "poolformer": model("PoolFormer", (1, 3, 128, 128), hidden_sizes=[32, 64, 160, 256], depths=[1, 1, 3, 1]),
    "levit": model("Levit", (1, 3, 224, 224), image_size=224),
    "pvt": model("Pvt", (1, 3, 128, 128), image_size=128, depths=[1, 1, 2, 1]),
    "whisper_encoder": model("WhisperEncoder", (1, 80, 400), d_model=192, encoder_layers=3, encoder_attention_heads=3,
                             encoder_ffn_dim=768, max_source_positions=200),
    "hubert": model("Hubert", (1, 8000), conv_dim=[64] * 7, num_conv_pos_embeddings=31,
                    num_conv_pos_embedding_groups=4, **TINY),
    "ast": model("AST", (1, 256, 128), max_length=256, **TINY),
    "mamba": model("Mamba", 16, hidden_size=128, num_hidden_layers=2, vocab_size=500, use_cache=False),
    "bart": model("Bart", 32, d_model=192, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3,
                  decoder_attention_heads=3, encoder_ffn_dim=768, decoder_ffn_dim=768, vocab_size=500,
                  use_cache=False),
    "yolos": model("Yolos", (1, 3, 128, 160), image_size=[128, 160], num_detection_tokens=50, **TINY),
}

if __name__ == "__main__":
    main(OTHERS)
